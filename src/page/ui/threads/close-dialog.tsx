import { useState, type FormEvent } from 'react';
import { t } from '../../language/t.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import type { Thread } from '../../../shared/protocol/threads.ts';
import { Dialog } from '../parts/dialog.tsx';
import { count } from '../text/sizes.ts';
import { useThreads } from './use-threads.ts';

/** Asks for a summary, and closes the thread with it. */
export function CloseDialog({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const threads = useThreads();
  const [summary, setSummary] = useState('');
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const long = summary.trim().length > LIMITS.threadSummary;
  const close = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || long) return;
    setBusy(true);
    const done = await threads.close(thread.threadId, summary.trim());
    setBusy(false);
    if (done.ok) onClose();
    else setFailed(done.reason);
  };
  return (
    <Dialog title={t`Close this thread?`} onClose={onClose}>
      <form className="thread-form" onSubmit={(event) => void close(event)}>
        <p>{t`Nobody can write in it afterwards, and it cannot be opened again. It stays here to be read.`}</p>
        <label>
          <span>{t`What came of it (may be empty)`}</span>
          <textarea
            className="field"
            rows={5}
            dir="auto"
            value={summary}
            aria-invalid={long}
            onChange={(event) => setSummary(event.target.value)}
          />
        </label>
        {long && (
          <p
            className="wrong-note"
            role="alert"
          >{t`A summary has at most ${count(LIMITS.threadSummary)} characters; this has ${count(summary.trim().length)}.`}</p>
        )}
        {failed !== null && (
          <p className="wrong-note" role="alert">
            {t`The thread could not be closed: ${failed}`}
          </p>
        )}
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="submit" className="solid" disabled={busy || long}>
            {busy ? t`Closing…` : t`Close the thread`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
