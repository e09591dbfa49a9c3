import { useState } from 'react';
import type { FileEntry } from '../../protocol/endpoints/workspaces.ts';
import { filesOf } from '../../state/files.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';

interface Props {
  readonly agentId: string;
  readonly path: string;
  readonly entry: FileEntry;
  readonly onClose: () => void;
}

/** What lies in a folder lies nowhere else: before it goes, it is asked. */
export function RemoveDialog({ agentId, path, entry, onClose }: Props) {
  const files = filesOf(useRoost());
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    if (busy) return;
    setBusy(true);
    await files.remove(agentId, path);
    setBusy(false);
    onClose();
  };
  return (
    <Dialog title={`Delete “${entry.name}”?`} onClose={onClose}>
      <p>
        {entry.kind === 'folder' ? 'The folder goes with all that is in it. ' : ''}It lies nowhere else, and cannot be
        brought back.
      </p>
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onClose}>
          Keep it
        </button>
        <button type="button" className="danger-button" disabled={busy} onClick={() => void remove()}>
          {busy ? 'Deleting…' : 'Delete it'}
        </button>
      </div>
    </Dialog>
  );
}
