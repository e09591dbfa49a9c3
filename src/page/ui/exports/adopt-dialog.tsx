import { useState } from 'react';
import { seatNumber, type SeatPosition } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { Dialog } from '../design/dialog.tsx';
import { AdoptFlow } from './adopt-flow.tsx';
import { DropZone } from '../design/drop-zone.tsx';
import './exports.css';

/** Adopts an agent from a file into this seat. */
export default function AdoptDialog({ position, onClose }: { position: SeatPosition; onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  return (
    <Dialog title={t`Adopt into seat ${seatNumber(position)}`} onClose={onClose}>
      <div className="exports gap-7 stack narrow ink-2 text-3">
        {file ? (
          <AdoptFlow
            key={`${file.name}:${file.lastModified}:${file.size}`}
            file={file}
            position={position}
            onLeave={() => setFile(null)}
          />
        ) : (
          <DropZone
            label={t`Choose a file`}
            accept=".zip,.md,.markdown,.txt"
            onFile={setFile}
          >{t`or drop it here: ${'.zip, SOUL.md'}`}</DropZone>
        )}
      </div>
    </Dialog>
  );
}
