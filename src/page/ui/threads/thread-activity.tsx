/** Who is at work on a thread just now, in the line under its title. */
import type { ReactNode } from 'react';
import { t } from '../../language/t.ts';
import type { Thread, ThreadMessage } from '../../../shared/protocol/threads.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { ActivityLine, Steps } from '../chat/activity.tsx';
import { doingOf, isAbout, type Growing } from '../chat/doing.ts';
import { useAnswers } from '../context.tsx';
import { namedIn, useTeammates, type Teammate } from '../use-teammates.ts';

/** ms between a mention and an answer that is taken to be of it. */
const OF_THIS = 5 * 60_000;

/** Was it begun because somebody was mentioned here, who has said nothing here since? */
function isAsked({ startedAt }: Growing, agentId: string, messages: readonly ThreadMessage[]): boolean {
  const last = messages.findLast(({ from, mentions }) => from === agentId || mentions.includes(agentId));
  const since = last === undefined || last.from === agentId ? Infinity : startedAt - last.time;
  return since >= 0 && since < OF_THIS;
}

export function ThreadActivity({
  thread: { threadId, title, closed },
  messages,
  people,
  otherwise,
}: {
  thread: Thread;
  messages: readonly ThreadMessage[];
  people: readonly Teammate[];
  /** Stands there while nobody is. */
  otherwise: ReactNode;
}) {
  const answers = useAnswers((state) => state);
  const nameOf = namedIn(useTeammates());
  const atWork = (closed ? [] : people).flatMap(({ agentId, name }) => {
    const answer = openAnswerOf(answers, agentId);
    return answer && (isAbout(answer, threadId) || isAsked(answer, agentId, messages))
      ? [{ agentId, who: name, answer, ...doingOf(answer, nameOf) }]
      : [];
  });
  if (atWork.length === 0) return otherwise;
  return (
    <ActivityLine label={t`What goes on in ${title}`} doing={atWork}>
      {atWork.map((one) => (
        <section key={one.agentId} className="activity-who" aria-label={one.who}>
          <h3 dir="auto">{one.who}</h3>
          <Steps agentId={one.agentId} answer={one.answer} doing={one} />
        </section>
      ))}
    </ActivityLine>
  );
}
