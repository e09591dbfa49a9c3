/** A field onto which files and folders can be dropped, with a button that selects a file. */
import { type ReactNode, useId, useState } from 'react';
import './drop-zone.css';

// Collects dropped files, including those in folders.

/**
 * Most files of dropped folders. A message takes far fewer, and a folder may contain a whole
 * system.
 */
const MOST = 200;
/** Hidden files that systems leave in folders. */
const IS_HIDDEN = /^\.|^(?:Thumbs\.db|desktop\.ini)$/i;

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));
const entriesOf = (reader: FileSystemDirectoryReader): Promise<readonly FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject));

/** `path`: within the dropped folder; the name of a file that was dropped alone. */
export interface DroppedFile {
  readonly file: File;
  readonly path: string;
}

async function filesIn(entry: FileSystemEntry, files: DroppedFile[], most: number): Promise<void> {
  if (files.length >= most || IS_HIDDEN.test(entry.name)) return;
  if (entry.isFile)
    files.push({ file: await fileOf(entry as FileSystemFileEntry), path: entry.fullPath.replace(/^\//, '') });
  if (!entry.isDirectory) return;
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A directory reader returns its entries in batches.
  for (let some = await entriesOf(reader); some.length > 0; some = await entriesOf(reader))
    for (const each of some) await filesIn(each, files, most);
}

/**
 * Must be called while the drop event is handled; later the browser reveals nothing. Rejects if a
 * folder cannot be read.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<readonly File[]> {
  return (await droppedWithPaths(transfer, MOST)).map(({ file }) => file);
}

function droppedWithPaths(transfer: DataTransfer, most: number): Promise<readonly DroppedFile[]> {
  const entries = [...(transfer.items ?? [])].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  const folders = entries.filter(({ isDirectory }) => isDirectory);
  const files = [...transfer.files].map(named);
  if (folders.length === 0) return Promise.resolve(files);
  // A folder is among the files too, as an unreadable file.
  const names = new Set(folders.map(({ name }) => name));
  const found = files.filter(
    ({ file: { name, size, type } }) => !(names.has(name) && type === '' && size % 4_096 === 0),
  );
  const gather = async () => {
    for (const folder of folders) await filesIn(folder, found, most);
    return found;
  };
  return gather();
}

const named = (file: File): DroppedFile => ({ file, path: file.name });

interface Props {
  /** Describes what may be dropped. */
  readonly children: ReactNode;
  readonly label: string;
  /** File extensions and types, as for an input. */
  readonly accept: string;
  /** Several files may be given at once; `onFile` is called for each. */
  readonly several?: boolean;
  readonly onFile?: (file: File) => void;
  /** All files that are given at once, with those in dropped folders. */
  readonly onFiles?: (files: readonly DroppedFile[]) => void;
}

/** Most files of a folder that is read as a whole. */
const MOST_WITH_PATHS = 100_000;

/** A drop zone with a button that selects a file. */
export function DropZone({ children, label, accept, several = false, onFile, onFiles }: Props) {
  const id = useId();
  const [over, setOver] = useState(false);
  const take = (files: Iterable<File>) => {
    if (onFiles) onFiles([...files].map(named));
    else for (const file of [...files].slice(0, several ? undefined : 1)) onFile?.(file);
  };
  return (
    // Dropping is a shortcut: the button inside does the same.
    <div
      className="drop"
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const { files } = event.dataTransfer;
        // An unreadable folder is passed on as a file. The receiver reports what is wrong with it.
        if (onFiles) droppedWithPaths(event.dataTransfer, MOST_WITH_PATHS).then(onFiles, () => take(files));
        else droppedFiles(event.dataTransfer).then(take, () => take(files));
      }}
    >
      <input
        id={id}
        className="visually-hidden"
        type="file"
        accept={accept}
        multiple={several || onFiles !== undefined}
        aria-describedby={`${id}-about`}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          // The same file can be chosen again after it was changed.
          event.target.value = '';
          take(files);
        }}
      />
      <label htmlFor={id} className="ghost drop-button">
        {label}
      </label>
      <p id={`${id}-about`}>{children}</p>
    </div>
  );
}
