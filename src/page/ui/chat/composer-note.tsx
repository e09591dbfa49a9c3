import { t } from '../../language/t.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import type { FilesProblem } from '../attachments/attaching.tsx';
import { count } from '../text/sizes.ts';

/** Characters left at which the count shows. */
const COUNT_FROM = 20_000;

interface Props {
  readonly id: string;
  /** Characters in the field. */
  readonly length: number;
  /** A picture was put where only words go. */
  readonly picture: boolean;
  /** What is wrong with files. */
  readonly problem: FilesProblem | null;
  readonly unkept: boolean;
  readonly again: boolean;
  readonly hint: string | null;
}

/** The line below the field: the first of what there is to say. */
function noteOf({ length, picture, problem, unkept, again, hint }: Omit<Props, 'id'>): string | null {
  const left = LIMITS.messageText - length;
  if (left < 0)
    return t`This is ${count(length)} characters: ${count(-left)} more than one message can hold. Shorten it, or send it in parts.`;
  if (picture) return t`Pictures and files cannot be sent here yet. Words can.`;
  if (problem !== null) return problem.text;
  if (left < COUNT_FROM) return t`${count(left)} characters left`;
  if (unkept) return t`This draft is too long to be kept if the page is reloaded.`;
  return again ? t`Your last message, to be said anew. Escape takes it away.` : hint;
}

export function ComposerNote({ id, ...about }: Props) {
  const isWrong = about.length > LIMITS.messageText || about.picture || about.problem !== null;
  const note = noteOf(about);
  const each = note !== null && note === about.problem?.text ? about.problem.each : [];
  return (
    <div id={id} className="compose-note" role={isWrong ? 'alert' : undefined}>
      <p>{note}</p>
      {each.length > 0 && (
        <details>
          <summary>{t`Which, and why`}</summary>
          {/* Scrolls by itself, by keyboard too. */}
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <ul tabIndex={0}>
            {each.map((why, i) => (
              <li key={i} dir="auto">
                {why}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
