import { useState } from 'react';
import { t } from '../../language/t.ts';
import type { Thread } from '../../../shared/protocol/threads.ts';
import { useRoost } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { Dialog } from '../parts/dialog.tsx';
import type { Teammate, Teammates } from '../use-teammates.ts';
import { useThreads } from './use-threads.ts';

function Person({ who, act, busy, onAct }: { who: Teammate; act: string; busy: boolean; onAct: () => void }) {
  return (
    <li className="person-line tint" style={{ '--c': who.color }}>
      <Face agentId={who.agentId} face={who.face} color={who.color} awake={false} />
      <span dir="auto">{who.name}</span>
      <button
        type="button"
        className="ghost"
        aria-label={`${act} ${who.name}`}
        aria-disabled={busy}
        onClick={() => !busy && onAct()}
      >
        {act}
      </button>
    </li>
  );
}

/** Who takes part in a thread, and who may be asked to. */
export function ParticipantsDialog({
  thread,
  team,
  onClose,
}: {
  thread: Thread;
  team: Teammates;
  onClose: () => void;
}) {
  const { notices } = useRoost();
  const threads = useThreads();
  const [busy, setBusy] = useState(false);
  const inside = team.among(thread.participants);
  const outside = team.all.filter(({ agentId, retired }) => !retired && !thread.participants.includes(agentId));
  const change = async (work: ReturnType<typeof threads.add>, said: string, undo: () => void) => {
    setBusy(true);
    const done = await work;
    setBusy(false);
    if (done.ok) notices.info(said, { label: t`Undo`, run: undo });
    else notices.error(t`This could not be done: ${done.reason}`);
  };
  const add = (who: Teammate): Promise<void> =>
    change(
      threads.add(thread.threadId, who.agentId),
      t`${who.name} takes part now, and can read what was said before.`,
      () => void remove(who),
    );
  const remove = (who: Teammate): Promise<void> =>
    change(threads.remove(thread.threadId, who.agentId), t`${who.name} takes part no more.`, () => void add(who));
  return (
    <Dialog title={t`Who takes part`} onClose={onClose}>
      <div className="members">
        {inside.length === 0 && (
          <p className="quiet">{t`Nobody takes part any more. You can still write here, or add somebody.`}</p>
        )}
        <ul>
          {inside.map((who) => (
            <Person key={who.agentId} who={who} act={t`Remove`} busy={busy} onAct={() => void remove(who)} />
          ))}
        </ul>
        {outside.length > 0 && (
          <>
            <h3>{t`Not here yet`}</h3>
            <ul>
              {outside.map((who) => (
                <Person key={who.agentId} who={who} act={t`Add`} busy={busy} onAct={() => void add(who)} />
              ))}
            </ul>
          </>
        )}
        <p className="setting-hint">{t`Whoever is added can read everything that was said before. You read and write in every thread.`}</p>
      </div>
    </Dialog>
  );
}
