/**
 * What to say first: after somebody has hatched the page says what to do next, and in a demo it
 * shows what can be asked.
 */
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import type { MessageDoc } from '../../../shared/protocol/documents.ts';
import { useHousehold } from '../context.tsx';
import { useRehearsing } from '../models/chip.tsx';
import type { Speaker } from './message.tsx';
import './first-words.css';

const HELLO = [t`Hello! Who are you?`, t`What can you do?`, t`Who else is here?`];

/** What the stand-in does for real, in the languages of the page. */
function demoWords(speaker: Speaker, other: string | undefined): readonly string[] {
  return [
    t`Remember this: the bridge is blue.`,
    t`What did I tell you?`,
    ...(other === undefined ? [] : [t`Tell ${other} that the bridge holds.`, t`Wake ${other}: come and see.`]),
    ...(speaker.kind === 'lead' ? [] : [t`Go to sleep.`]),
  ];
}

export function FirstWords({
  speaker,
  messages,
  onPick,
}: {
  speaker: Speaker;
  messages: readonly MessageDoc[];
  onPick: (text: string) => void;
}) {
  const rehearsing = useRehearsing();
  const other = useHousehold(({ roster }) => {
    for (const agent of roster.seats.values())
      if (agent.agentId !== speaker.agentId && agent.agentId !== LEAD_ID) return agent.name;
    return undefined;
  });
  const spoken = messages.some(({ author }) => author === 'human');
  if (!speaker.awake || messages.length === 0 || (spoken && !rehearsing)) return null;
  const words = spoken ? demoWords(speaker, other) : HELLO;
  const title = spoken ? t`In this demo you can try` : t`Say hello to ${speaker.name}`;
  return (
    <section className="first-words" aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {words.map((text) => (
          <li key={text}>
            <button type="button" className="chip" onClick={() => onPick(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
