import { useState, type FormEvent } from 'react';
import { LIMITS } from '../../protocol/limits.ts';
import { Face } from '../grid/face.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { PATHS, usePlace } from '../places.ts';
import { useTeammates } from '../use-teammates.ts';
import { useThreads } from './use-threads.ts';

/** What is still wrong with a thread that is to be begun, or null. */
function wrongWith(title: string, participants: number): string | null {
  if (title === '') return 'It needs a title.';
  if (title.length > LIMITS.threadTitle) return `A title has at most ${LIMITS.threadTitle} characters.`;
  if (participants === 0) return 'Choose who takes part.';
  if (participants > LIMITS.threadParticipants) return `At most ${LIMITS.threadParticipants} can take part.`;
  return null;
}

/** Begins a thread: what it is about, and who takes part. */
export function BeginDialog({ chosen: first, onClose }: { chosen: readonly string[]; onClose: () => void }) {
  const threads = useThreads();
  const team = useTeammates();
  const { go } = usePlace();
  const able = team.all.filter(({ retired }) => !retired);
  const [title, setTitle] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(first.filter((id) => able.some(({ agentId }) => agentId === id))),
  );
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const wrong = wrongWith(title.trim(), chosen.size);
  const [tried, setTried] = useState(false);
  const begin = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (busy || wrong !== null) return;
    setBusy(true);
    setFailed(null);
    const made = await threads.create(
      title.trim(),
      able.flatMap(({ agentId }) => (chosen.has(agentId) ? [agentId] : [])),
    );
    setBusy(false);
    if (made.ok) go(PATHS.thread(made.threadId));
    else setFailed(made.reason);
  };
  const toggle = (agentId: string) =>
    setChosen((held) => {
      const next = new Set(held);
      if (!next.delete(agentId)) next.add(agentId);
      return next;
    });
  return (
    <Dialog title="Begin a thread" onClose={onClose}>
      <form className="thread-form" noValidate onSubmit={(event) => void begin(event)}>
        <label>
          <span>What it is about</span>
          <input
            className="field"
            dir="auto"
            autoComplete="off"
            value={title}
            aria-invalid={tried && title.trim() === ''}
            onChange={(event) => setTitle(event.target.value)}
          />
        </label>
        <fieldset>
          <legend>Who takes part</legend>
          <ul className="choices">
            {able.map(({ agentId, name, birthName, color }) => (
              <li key={agentId}>
                <label className="choice tint" style={{ '--c': color }}>
                  <input type="checkbox" checked={chosen.has(agentId)} onChange={() => toggle(agentId)} />
                  <Face agentId={agentId} birthName={birthName} color={color} awake={false} />
                  <span dir="auto">{name}</span>
                </label>
              </li>
            ))}
          </ul>
        </fieldset>
        <p className="setting-hint">
          Taking part wakes nobody, unless an agent is set to be woken by it. Who is mentioned with @ is told, and may
          be woken within its limits.
        </p>
        {((tried && wrong) || failed !== null) && (
          <p className="wrong-note" role="alert">
            {tried && wrong ? wrong : `The thread could not be begun: ${failed ?? ''}`}
          </p>
        )}
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="solid" disabled={busy}>
            {busy ? 'Beginning…' : 'Begin'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
