/** What somebody dropped: files, and the files in folders. */

/**
 * Files of folders that are taken at most: a message takes far fewer, and a folder may hold a whole
 * system.
 */
const MOST = 200;
/** What a system leaves in every folder. */
const IS_HIDDEN = /^\.|^(?:Thumbs\.db|desktop\.ini)$/i;

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));
const entriesOf = (reader: FileSystemDirectoryReader): Promise<readonly FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject));

async function filesIn(entry: FileSystemEntry, files: File[]): Promise<void> {
  if (files.length >= MOST || IS_HIDDEN.test(entry.name)) return;
  if (entry.isFile) files.push(await fileOf(entry as FileSystemFileEntry));
  if (!entry.isDirectory) return;
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader hands out a part at a time.
  for (let some = await entriesOf(reader); some.length > 0; some = await entriesOf(reader))
    for (const each of some) await filesIn(each, files);
}

/**
 * To be called while the drop is handled: afterwards a browser tells nothing of it. Rejects where a
 * folder cannot be read.
 */
export function droppedFiles(transfer: DataTransfer): Promise<readonly File[]> {
  const entries = [...(transfer.items ?? [])].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  const folders = entries.filter(({ isDirectory }) => isDirectory);
  const files = [...transfer.files];
  if (folders.length === 0) return Promise.resolve(files);
  // A folder is among the files too, as one that cannot be read.
  const names = new Set(folders.map(({ name }) => name));
  const found = files.filter(({ name, size, type }) => !(names.has(name) && type === '' && size % 4_096 === 0));
  const gather = async () => {
    for (const folder of folders) await filesIn(folder, found);
    return found;
  };
  return gather();
}
