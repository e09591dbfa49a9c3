import { useId, useState, type ReactNode } from 'react';
import { droppedFiles } from './dropped.ts';
import './drop-zone.css';

interface Props {
  /** What may be dropped, in words. */
  readonly children: ReactNode;
  readonly label: string;
  /** Endings and types, as an input takes them. */
  readonly accept: string;
  /** More than one may be given at once; each comes by itself. */
  readonly several?: boolean;
  readonly onFile: (file: File) => void;
}

/** A place to drop a file on, or to choose one by hand. */
export function DropZone({ children, label, accept, several = false, onFile }: Props) {
  const id = useId();
  const [over, setOver] = useState(false);
  const take = (files: Iterable<File>) => [...files].slice(0, several ? undefined : 1).forEach(onFile);
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
        const dropped = droppedFiles(event.dataTransfer);
        // A folder that cannot be read is handed on as what it is: whoever takes files says what is
        // wrong with it.
        dropped.then(take, () => take(files));
      }}
    >
      <input
        id={id}
        className="visually-hidden"
        type="file"
        accept={accept}
        multiple={several}
        aria-describedby={`${id}-about`}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          // The same file may be chosen again, after it was changed.
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
