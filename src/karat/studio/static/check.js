/** The check alone, for pages without a form, such as that of an unreadable study file. */

import { Editing } from "./editing.js";

new Editing({ collect: () => ({ changes: [], tables: {} }), place: () => {}, saved: () => {} });
