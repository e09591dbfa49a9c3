import {
  lazy,
  Suspense,
  useEffect,
  useId,
  useImperativeHandle,
  useRef,
  useState,
  type KeyboardEvent,
  type Ref,
} from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import type { PreparedFile } from '../../state/attachments.ts';
import { AttachButton, Chips, useAttaching } from '../attachments/attaching.tsx';
import { useDrops } from '../attachments/use-drops.ts';
import { useRoost } from '../context.tsx';
import { withParagraph } from '../text/quote.ts';
import { names } from '../text/sizes.ts';
import { useLeaving } from '../use-leaving.ts';
import type { Teammate } from '../use-teammates.ts';
import { recognitionOf } from '../voice/available.ts';
import { ComposerButtons } from './composer-buttons.tsx';
import { ComposerNote } from './composer-note.tsx';
import { followDraft, keepDraft, readDraft } from './drafts.ts';
import { optionId, Suggestions, useMentioning } from './mentioning.tsx';
import { mentionedIn } from '../../../shared/domain/mentions.ts';
import { putText } from './put-text.ts';
import { keyOf } from '../parts/keys.ts';
import './composer.css';

/** ms after the last key before a draft is kept. */
const KEEP_AFTER = 250;
/** Characters up to which it is said while one types who is mentioned. */
const LOOK_FOR_MENTIONS = 20_000;
const NOBODY: readonly Teammate[] = [];

const HEARS = recognitionOf() !== null;
const DictateButton = lazy(() =>
  import('../voice/dictate-button.tsx').then(({ DictateButton }) => ({ default: DictateButton })),
);

/** Does the style sheet's `field-sizing` do it? Elsewhere the height follows the text by hand. */
const GROWS_BY_ITSELF = typeof CSS !== 'undefined' && CSS.supports('field-sizing', 'content');

/** The field, for what puts text into it from elsewhere on the page. */
export interface Field {
  /**
   * Behind what stands there, in a paragraph of its own, the files beside those that are there; the
   * person goes on after it.
   */
  add(text: string, files?: readonly PreparedFile[]): void;
}

interface Props {
  readonly ref?: Ref<Field>;
  /** The draft's name: the text outlives leaving and reloading. */
  readonly draft: string;
  readonly label: string;
  readonly placeholder?: string;
  /** What happens to a message that is not read at once, or null; of those whom it mentions. */
  readonly hint: string | null | ((mentioned: readonly Teammate[]) => string);
  readonly disabled?: boolean;
  /** Something is being answered, and can be stopped. */
  readonly answering?: boolean;
  /** An edit under way: its text, and the way out of it. */
  readonly edit?: { readonly text: string; readonly earlier: boolean; readonly cancel: () => void } | null;
  /** Those whom an `@` offers. */
  readonly people?: readonly Teammate[];
  /** Pictures and files may go along, to the model of this agent. Left out: words alone. */
  readonly attachesFor?: AgentId;
  /** An edit has these already. */
  readonly along?: number;
  readonly onSend: (text: string, mentions: readonly string[], files: readonly PreparedFile[]) => void;
  readonly onStop?: () => void;
  /**
   * Arrow up in the empty field: what was said last, to be said anew; null: there is nothing, or it
   * is edited in its place.
   */
  readonly onLast?: () => string | null;
}

/**
 * Is the keyboard most likely one on the screen? It has no Shift with Enter, and Enter is how a
 * line ends there.
 */
const hasTouchKeyboard = () => matchMedia('(hover: none) and (pointer: coarse)').matches;

function goOnIn(box: HTMLTextAreaElement): void {
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
  box.scrollTop = box.scrollHeight;
}

/** A picture, or a file, with no words beside it. */
const holdsOnlyFiles = ({ files, types }: DataTransfer) => files.length > 0 && !types.includes('text/plain');

/**
 * Where a person writes. The text lives in the field itself: a megabyte pasted here goes through no
 * state, and nothing is cut: what is too long is counted and said.
 */
export function Composer({
  ref,
  draft,
  label,
  placeholder = label,
  hint,
  disabled = false,
  answering = false,
  edit = null,
  people = NOBODY,
  attachesFor,
  along = 0,
  onSend,
  onStop,
  onLast,
}: Props) {
  const { browser } = useRoost().device;
  const attaches = attachesFor !== undefined;
  const field = useRef<HTMLTextAreaElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [length, setLength] = useState(() => (edit ? edit.text : readDraft(browser, draft)).length);
  const [unkept, setUnkept] = useState(false);
  const [picture, setPicture] = useState(false);
  const [mentioned, setMentioned] = useState<readonly string[]>([]);
  /** The text is what was said last, brought back by arrow up. */
  const [again, setAgain] = useState(false);
  const id = useId();
  const [note, list] = [`${id}-note`, `${id}-list`];
  const editing = edit !== null;
  const over = length - LIMITS.messageText;
  const attaching = useAttaching(editing ? null : draft);
  const frame = useRef<HTMLFormElement>(null);
  useDrops(frame, attaches && !disabled ? attaching.add : null);
  const blank = length === 0 && attaching.files.length + along === 0;

  useEffect(() => {
    const box = field.current;
    if (box && editing) goOnIn(box);
  }, [editing]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (editing) return undefined;
    return followDraft(draft, (text) => {
      const box = field.current;
      // Whoever writes here now goes on undisturbed; elsewhere what was sent in another tab must
      // not stand to be sent again.
      if (!box || box === document.activeElement) return;
      box.value = text;
      setLength(text.length);
    });
  }, [draft, editing]);

  const keep = () => {
    if (!editing) setUnkept(!keepDraft(browser, draft, field.current?.value ?? ''));
  };
  useLeaving(keep);
  const onText = () => {
    const box = field.current;
    const text = box?.value ?? '';
    setLength(text.length);
    setMentioned(text.length <= LOOK_FOR_MENTIONS ? mentionedIn(text, people) : []);
    setPicture(false);
    if (text === '') setAgain(false);
    if (box && !GROWS_BY_ITSELF) {
      box.style.height = 'auto';
      box.style.height = `${box.scrollHeight}px`;
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(keep, KEEP_AFTER);
  };
  useImperativeHandle(ref, () => ({
    add(text, files = []) {
      const box = field.current;
      if (!box || disabled) return;
      attaching.putBack(files);
      const end = box.value.length;
      if (text !== '') putText(box, withParagraph(box.value, text).slice(end), { from: end, to: end });
      onText();
      keep();
      goOnIn(box);
    },
  }));
  const putBehind = (heard: string) => {
    const box = field.current;
    if (!box) return;
    const end = box.value.length;
    const spoken = /(^|\s)$/.test(box.value) ? heard : ` ${heard}`;
    // Whoever speaks goes on speaking: the button that stops it keeps the focus.
    putText(box, spoken, { from: end, to: end, keepsFocus: false });
    onText();
    keep();
  };
  const mentioning = useMentioning(field, people, onText);
  const offers = mentioning.people.length > 0;
  const send = () => {
    const text = field.current?.value ?? '';
    if (disabled || attaching.preparing > 0 || text.length > LIMITS.messageText) return;
    if (text.trim() === '' && attaching.files.length + along === 0) return;
    onSend(text.trim() === '' ? '' : text, mentionedIn(text, people), attaching.files);
    attaching.clear();
    if (field.current) field.current.value = '';
    onText();
    mentioning.leave();
    if (!editing) keepDraft(browser, draft, '');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (mentioning.onKeyDown(event)) return;
    const key = keyOf(event);
    if (key === 'Escape' && edit) edit.cancel();
    if (key === 'Escape' && again && field.current) {
      // It was put in by a key, and goes by one; the field is left by the next.
      event.stopPropagation();
      putText(field.current, '', { from: 0, to: field.current.value.length });
      onText();
    }
    if (key === 'ArrowUp' && !editing && field.current?.value === '') {
      const text = onLast?.() ?? null;
      if (text === null) return;
      event.preventDefault();
      putText(field.current, text, { from: 0, to: 0 });
      setAgain(true);
      onText();
    }
    const isAsked = event.ctrlKey || event.metaKey;
    if (key !== 'Enter' || event.shiftKey || (hasTouchKeyboard() && !isAsked)) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      ref={frame}
      className="compose"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {edit && (
        <p className="compose-edit">
          {edit.earlier
            ? t`Editing what you wrote before. What came after it stays, as an earlier version.`
            : t`Editing your last message. What came after it will be replaced.`}
          <button type="button" className="link-button" onClick={edit.cancel}>{t`Cancel`}</button>
        </p>
      )}
      {offers && <Suggestions id={list} mentioning={mentioning} />}
      {attachesFor && <Chips attaching={attaching} reader={attachesFor} />}
      <div className="compose-box" data-disabled={disabled}>
        {attaches && <AttachButton attaching={attaching} disabled={disabled} />}
        <textarea
          ref={field}
          name="message"
          rows={1}
          dir="auto"
          aria-label={label}
          placeholder={placeholder}
          aria-describedby={note}
          aria-invalid={over > 0}
          {...(people.length > 0 ? { 'aria-autocomplete': 'list' } : {})}
          {...(offers ? { 'aria-controls': list, 'aria-activedescendant': optionId(list, mentioning.active) } : {})}
          disabled={disabled}
          defaultValue={edit ? edit.text : readDraft(browser, draft)}
          onInput={() => {
            onText();
            mentioning.look();
          }}
          onSelect={mentioning.look}
          onPaste={(event) => {
            if (!holdsOnlyFiles(event.clipboardData)) return;
            if (!attaches) return setPicture(true);
            event.preventDefault();
            attaching.add(event.clipboardData.files);
          }}
          onDrop={(event) => {
            // Where files may go along, the whole conversation takes them.
            if (attaches || !holdsOnlyFiles(event.dataTransfer)) return;
            // The browser would leave the page for the file.
            event.preventDefault();
            setPicture(true);
          }}
          onBlur={() => {
            mentioning.leave();
            keep();
          }}
          onKeyDown={onKeyDown}
        />
        {HEARS && !disabled && (
          <Suspense fallback={null}>
            <DictateButton browser={browser} onHeard={putBehind} />
          </Suspense>
        )}
        <ComposerButtons
          stop={answering ? (onStop ?? null) : null}
          send={!answering || !blank}
          canSend={!disabled && !blank && over <= 0 && attaching.preparing === 0}
        />
      </div>
      <ComposerNote
        id={note}
        length={length}
        picture={picture}
        problem={attaching.problem}
        unkept={unkept || attaching.unkept}
        again={again}
        hint={typeof hint === 'function' ? hint(people.filter(({ agentId }) => mentioned.includes(agentId))) : hint}
      />
      {people.length > 0 && (
        <p className="visually-hidden" role="status">
          {offers &&
            t`${names(mentioning.people.map(({ name }) => name))}: arrows choose, Enter puts in, Escape closes`}
        </p>
      )}
    </form>
  );
}
