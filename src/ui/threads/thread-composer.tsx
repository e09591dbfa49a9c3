import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { LIMITS } from '../../protocol/limits.ts';
import { keepDraft, readDraft } from '../chat/drafts.ts';
import '../chat/composer.css';
import { useRoost } from '../context.tsx';
import { SendIcon } from '../parts/icons.tsx';
import { count, names } from '../text/sizes.ts';
import { useLeaving } from '../use-leaving.ts';
import type { Teammate } from '../use-teammates.ts';
import { mentionedIn } from './mentions.ts';
import { optionId, Suggestions } from './suggestions.tsx';
import { useMentioning } from './use-mentioning.ts';

/** Characters up to which it is said while one types who is mentioned. */
const LOOK_FOR_MENTIONS = 20_000;
/** ms after the last key before a draft is kept. */
const KEEP_AFTER = 250;
/** Does the style sheet's `field-sizing` do it? Elsewhere the height follows the text by hand. */
const GROWS_BY_ITSELF = typeof CSS !== 'undefined' && CSS.supports('field-sizing', 'content');

export const draftOf = (threadId: string): string => `thread:${threadId}`;

interface Props {
  readonly threadId: string;
  readonly title: string;
  readonly people: readonly Teammate[];
  /** Text was just put in from elsewhere: go on from there. */
  readonly takeFocus: boolean;
  readonly onSend: (text: string, mentions: readonly string[]) => void;
}

/** Where the person writes into a thread. An `@` offers those who take part. */
// In one piece: one field: what is in it, or is offered for it, decides every key.
export function ThreadComposer({ threadId, title, people, takeFocus, onSend }: Props) {
  const { tab } = useRoost().device;
  const field = useRef<HTMLTextAreaElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [draft] = useState(() => readDraft(tab, draftOf(threadId)));
  const [length, setLength] = useState(draft.length);
  const [mentioned, setMentioned] = useState<readonly string[]>([]);
  const id = useId();
  const over = length - LIMITS.messageText;

  const keep = () => void keepDraft(tab, draftOf(threadId), field.current?.value ?? '');
  useLeaving(keep);
  const onText = () => {
    const box = field.current;
    const text = box?.value ?? '';
    setLength(text.length);
    setMentioned(text.length <= LOOK_FOR_MENTIONS ? mentionedIn(text, people) : []);
    if (box && !GROWS_BY_ITSELF) {
      box.style.height = 'auto';
      box.style.height = `${box.scrollHeight}px`;
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(keep, KEEP_AFTER);
  };
  const mentioning = useMentioning(field, people, onText);

  useEffect(() => {
    const box = field.current;
    if (!box || !takeFocus) return;
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
  }, [takeFocus]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const send = () => {
    const text = field.current?.value ?? '';
    if (text.trim() === '' || over > 0) return;
    onSend(text, mentionedIn(text, people));
    if (field.current) field.current.value = '';
    onText();
    keepDraft(tab, draftOf(threadId), '');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (mentioning.onKeyDown(event)) return;
    // While a script is being composed, Enter chooses a candidate.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };

  const open = mentioning.people.length > 0;
  const whom = people.filter(({ agentId }) => mentioned.includes(agentId)).map(({ name }) => name);
  return (
    <form
      className="compose"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {open && (
        <Suggestions
          id={`${id}-list`}
          people={mentioning.people}
          active={mentioning.active}
          onPick={mentioning.pick}
          onPoint={mentioning.point}
        />
      )}
      <div className="compose-box">
        <textarea
          ref={field}
          name="thread-message"
          rows={1}
          dir="auto"
          aria-label={`Write in ${title}`}
          placeholder="Write here; @ mentions"
          aria-describedby={`${id}-note`}
          aria-invalid={over > 0}
          aria-autocomplete="list"
          {...(open
            ? { 'aria-controls': `${id}-list`, 'aria-activedescendant': optionId(`${id}-list`, mentioning.active) }
            : {})}
          defaultValue={draft}
          onInput={() => {
            onText();
            mentioning.look();
          }}
          onSelect={mentioning.look}
          onBlur={() => {
            mentioning.leave();
            keepDraft(tab, draftOf(threadId), field.current?.value ?? '');
          }}
          onKeyDown={onKeyDown}
        />
        <button
          type="submit"
          className="compose-button"
          aria-label="Send"
          title="Send (Enter)"
          disabled={length === 0 || over > 0}
        >
          <SendIcon />
        </button>
      </div>
      <p id={`${id}-note`} className="compose-note" role={over > 0 ? 'alert' : undefined}>
        {over > 0
          ? `This is ${count(length)} characters: ${count(over)} more than one message can hold.`
          : whom.length > 0
            ? `${names(whom)} ${whom.length === 1 ? 'is' : 'are'} told of it, and may be woken by it.`
            : 'Who takes part reads it when awake; who is mentioned is told of it.'}
      </p>
      <p className="visually-hidden" role="status">
        {open ? `${names(mentioning.people.map(({ name }) => name))}: arrows choose, Enter puts in, Escape closes` : ''}
      </p>
    </form>
  );
}
