import { useId, useState, type ReactNode } from 'react';
import './drop-zone.css';

interface Props {
  /** What may be dropped, in words. */
  readonly children: ReactNode;
  readonly label: string;
  /** Endings and types, as an input takes them. */
  readonly accept: string;
  readonly onFile: (file: File) => void;
}

/** A place to drop a file on, or to choose one by hand. */
export function DropZone({ children, label, accept, onFile }: Props) {
  const id = useId();
  const [over, setOver] = useState(false);
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
        const file = event.dataTransfer.files[0];
        if (file) onFile(file);
      }}
    >
      <input
        id={id}
        className="visually-hidden"
        type="file"
        accept={accept}
        aria-describedby={`${id}-about`}
        onChange={(event) => {
          const file = event.target.files?.[0];
          // The same file may be chosen again, after it was changed.
          event.target.value = '';
          if (file) onFile(file);
        }}
      />
      <label htmlFor={id} className="ghost drop-button">
        {label}
      </label>
      <p id={`${id}-about`}>{children}</p>
    </div>
  );
}
