/**
 * Yes or no: a few options to choose from.
 */

export { options as default } from "../options.js";
