import { useState, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import { Dialog } from './dialog.tsx';

interface Props {
  readonly title: string;
  readonly children: ReactNode;
  /** The button that does it, and what stands on it meanwhile. */
  readonly does: readonly [label: string, meanwhile: string];
  /** What could not be done, as a sentence begins: "It could not be revoked". */
  readonly undone: string;
  /** Resolves with why it was not done; null: it was, and the dialog closes. */
  readonly onSure: () => Promise<string | null>;
  readonly onClose: () => void;
}

/** What cannot be taken back is asked once more. */
export function SureDialog({ title, children, does: [label, meanwhile], undone, onSure, onClose }: Props) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const run = async () => {
    if (busy) return;
    setBusy(true);
    const why = await onSure();
    setBusy(false);
    setFailed(why);
    if (why === null) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {failed !== null && (
        <p className="wrong-note" role="alert">
          {undone}: {failed}
        </p>
      )}
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onClose}>{t`Keep it`}</button>
        <button type="button" className="danger-button" disabled={busy} onClick={() => void run()}>
          {busy ? meanwhile : label}
        </button>
      </div>
    </Dialog>
  );
}
