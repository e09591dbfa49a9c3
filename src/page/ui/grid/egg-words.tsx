import type { AgentId } from '../../../shared/domain/ids.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { useRoost } from '../context.tsx';
import { useNow } from '../hooks.ts';
import { birthWords } from './birth-words.ts';

/** ms between updates. Eight eggs that speak at once are not drawn with each word. */
const EVERY_MS = 250;
/** Names that fit beside each other. */
const SHOWN = 2;

/** The words of an egg in its tile; `otherwise` before the first. */
export default function EggWords({ agentId, otherwise }: { agentId: AgentId; otherwise: string }) {
  const roost = useRoost();
  useNow(EVERY_MS);
  const { tried, words } = birthWords(openAnswerOf(roost.answers.store.getState(), agentId)?.blocks ?? []);
  if (words === '') return <span className="seat-sub at-most-full figures">{otherwise}</span>;
  return (
    <>
      {tried.length > 0 && (
        <span className="egg-tried flex gap-3 nowrap ink-3 clip centred-row at-most-full">
          {tried.slice(-SHOWN).map((name) => (
            <s key={name} dir="auto">
              {name}
            </s>
          ))}
        </span>
      )}
      <span className="egg-words clamp at-most-full clip ink-2 clamp-3 break" dir="auto">
        {words}
      </span>
    </>
  );
}
