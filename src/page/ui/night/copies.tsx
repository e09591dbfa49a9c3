import { useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { PATHS } from '../routes.ts';
import { bytes, count } from '../text/sizes.ts';
import { duration } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { useTeammates } from '../use-teammates.ts';

/** What agents have left with the relay, so that it can wake them while no page is open. */
export function StandingCopies({ agentId }: { agentId: AgentId | null }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  const now = useNow();
  const [taking, setTaking] = useState<string | null>(null);
  const takeBack = (id: string, name: string) => {
    if (taking !== null) return;
    setTaking(id);
    void schedules.takeBack(id, name).finally(() => setTaking(null));
  };
  return (
    <section className="night-block" aria-labelledby="night-copies">
      <h2 id="night-copies">{t`What the relay holds of them`}</h2>
      <p className="night-note">{t`To work while no page is open, an agent leaves its name, its soul and its last conversation with your relay, sealed on its disk. What you withdraw is gone from there, and the agent does nothing alone any more.`}</p>
      <QueryView query={schedules.copies} what={t`What the relay holds`}>
        {({ copies, takenBack }) => {
          const mates = team.all.filter(
            (mate) => !mate.retired && mate.agentId !== LEAD_ID && (agentId === null || mate.agentId === agentId),
          );
          const known = new Set(mates.map((mate) => mate.agentId));
          const others =
            agentId === null
              ? copies.filter((copy) => !known.has(copy.agentId)).map((copy) => team.find(copy.agentId))
              : [];
          return (
            <ul className="copies-left" aria-label={t`Left with the relay`}>
              {[...mates, ...others].map((mate) => {
                const copy = copies.find((one) => one.agentId === mate.agentId);
                return (
                  <li key={mate.agentId} data-left={copy !== undefined}>
                    <span className="routine-face">
                      <FaceOf agentId={mate.agentId} />
                    </span>
                    <div>
                      <Link href={PATHS.agent(mate.agentId)} className="name-link tint" style={{ '--c': mate.color }}>
                        <span dir="auto">{mate.name}</span>
                      </Link>
                      <p>
                        {copy
                          ? t`Left ${copy.leftAt > now - 60_000 ? t`just now` : t`${duration(now - copy.leftAt)} ago`}: ${[
                              'name',
                              copy.soulChars > 0 ? t`soul (${count(copy.soulChars)} characters)` : null,
                              copy.transcriptChars > 0
                                ? t`last conversation (${count(copy.transcriptChars)} characters)`
                                : null,
                            ]
                              .filter((part) => part !== null)
                              .join(', ')}; ${bytes(copy.bytes)} sealed.`
                          : takenBack.includes(mate.agentId)
                            ? t`You took it back. It is left again when you switch on something of it.`
                            : t`Nothing is left.`}
                      </p>
                    </div>
                    {copy && (
                      <button
                        type="button"
                        className="ghost"
                        aria-label={t`Take it back: ${mate.name}`}
                        disabled={taking !== null}
                        onClick={() => takeBack(mate.agentId, mate.name)}
                      >
                        {taking === mate.agentId ? t`Taking it back…` : t`Take it back`}
                      </button>
                    )}
                  </li>
                );
              })}
            </ul>
          );
        }}
      </QueryView>
    </section>
  );
}
