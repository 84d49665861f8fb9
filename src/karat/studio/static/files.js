/** The files of a drop, those in dropped folders too, each with its path in the folder. */

const HIDDEN = /(^|\/)(\.|__MACOSX)/;

/**
 * @param {DataTransfer} transfer
 * @returns {Promise<{ path: string, file: File }[]>}
 */
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return chosen(transfer.files);
  const files = [];
  for (const entry of entries) await walk(entry, files);
  return files.filter(({ path }) => !HIDDEN.test(path));
}

/**
 * The files of an input; those of a folder have a path.
 * @param {Iterable<File>} files
 */
export function chosen(files) {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })).filter(({ path }) => !HIDDEN.test(path));
}

async function walk(entry, files) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    files.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A reader gives a hundred entries at a time.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return;
    for (const inner of part) await walk(inner, files);
  }
}
