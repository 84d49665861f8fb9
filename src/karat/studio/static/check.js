/** A page that has nothing to edit, such as that of an unreadable study file: the check alone. */

import { Editing } from "./editing.js";

new Editing({ collect: () => ({ changes: [], tables: {} }), place: () => {}, saved: () => {} });
