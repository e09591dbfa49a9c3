import { ExportAll } from './export-all.tsx';
import { ImportCopy } from './import-copy.tsx';
import './copies.css';

/** Copies that leave this device, and come back. */
export function CopiesSection() {
  return (
    <div className="copies">
      <section aria-label="Export everything">
        <h3>Export everything</h3>
        <ExportAll />
      </section>
      <section aria-label="Bring something in">
        <h3>Bring something in</h3>
        <p>You see what is in a file before anything is taken. Bringing in the same file twice is harmless.</p>
        <ImportCopy />
      </section>
      <section aria-label="One agent alone">
        <h3>One agent alone</h3>
        <p>
          An agent’s own page exports it as a zip of plain files: its soul as text, its identity, and every
          conversation. Such a zip, or a SOUL.md that you wrote yourself, can be adopted into an empty seat: here, or
          from the seat’s own menu.
        </p>
      </section>
    </div>
  );
}
