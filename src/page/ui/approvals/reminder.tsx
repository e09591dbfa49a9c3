/** A repeating reminder of an agent, as the person is asked to approve it. */
import type { Timing } from '../../../shared/domain/schedule/timing.ts';
import { t } from '../../language/t.ts';
import type { ToolCall } from '../../../shared/protocol/approvals.ts';
import { momentText, nextText, timingText } from '../schedule/words.ts';
import { Diff } from '../parts/diff.tsx';
import { revealed, revealedLine } from '../text/unseen.ts';
import { CONTEXTS, nameOfValue } from '../text/value-names.ts';
import { inputOf, textIn, useBefore, useWhen } from './words.ts';

/** When it is due next if it is approved now. */
function nextSentence(timing: Timing, [first, ...rest]: readonly number[], now: number): string {
  if (first === undefined) return t`This schedule will never run.`;
  // The relay assigns its place in the interval.
  if (timing.kind === 'every') return t`Due within ${timing.minutes} minutes, and then every ${timing.minutes}.`;
  return t`Due next: ${[nextText(first, now), ...rest.map((at) => momentText(at, now))].join(t`, then `)}.`;
}

export default function WantedReminder({ call }: { call: ToolCall }) {
  const { now, timing, next } = useWhen(call);
  const input = inputOf(call);
  const of = (name: string) => textIn(input, name);
  const [name, message] = [of('name'), of('message')];
  const before = useBefore(call, name);
  // A value that cannot be parsed is shown as it is.
  if (timing === null || name === null || message === null)
    return (
      <pre className="excerpt" dir="auto">
        {revealed(JSON.stringify(input, null, 2))}
      </pre>
    );
  const context = of('context') ?? 'none';
  const notes = [
    t`As “${revealedLine(name)}”, ${timingText(timing, now)}.`,
    nextSentence(timing, next, now),
    context === 'none' ? null : `${t`${t`What it remembers`}: ${nameOfValue(CONTEXTS, context)}`}.`,
    t`Each time costs a request to its model.`,
  ];
  return (
    <>
      <pre className="excerpt" dir="auto">
        {revealed(message)}
      </pre>
      <p className="pretty text-2 ink-2">{notes.filter((note) => note !== null).join(' ')}</p>
      {before?.kind === 'reminder' && (
        <>
          <p className="pretty text-2 ink-2">{t`Replaces the reminder with this name, ${timingText(before.timing, now)}:`}</p>
          <Diff before={before.message} after={message} />
        </>
      )}
    </>
  );
}
