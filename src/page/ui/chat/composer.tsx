import {
  type KeyboardEvent,
  lazy,
  type Ref,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { complete, meant, mentionedIn, type Typing, typingAt } from '../../../shared/domain/mentions.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { PreparedFile } from '../../state/attachments.ts';
import { SendIcon, StopIcon } from '../parts/icons.tsx';
import { AttachButton, Chips, type FilesProblem, useAttaching, useDrops } from '../attachments/attaching.tsx';
import { count, names } from '../text/sizes.ts';
import { Face } from '../grid/face.tsx';
import type { Teammate } from '../use-somebody.ts';
import { keyOf } from '../parts/keys.ts';
import { useRoost } from '../context.tsx';
import { withParagraph } from '../text/quote.ts';
import { useLeaving } from '../hooks.ts';
import { recognitionOf } from '../voice/words.ts';
import { followDraft, keepDraft, readDraft } from './drafts.ts';
import './composer.css';

interface ComposerButtonsProps {
  /** Something is being answered, and ends by this; null: nothing is. */
  readonly stop: (() => void) | null;
  /** There is a button to send by, and it can be pressed. */
  readonly send: boolean;
  readonly canSend: boolean;
}

/** At the end of the field: what is being answered is stopped, what was written is sent. */
function ComposerButtons({ stop, send, canSend }: ComposerButtonsProps) {
  return (
    <>
      {stop && (
        <button
          type="button"
          className="compose-button compose-stop"
          aria-label={t`Stop`}
          title={t`Stop this answer`}
          onClick={stop}
        >
          <StopIcon />
        </button>
      )}
      {send && (
        <button
          type="submit"
          className="compose-button"
          aria-label={t`Send`}
          title={t`Send (Enter)`}
          disabled={!canSend}
        >
          <SendIcon />
        </button>
      )}
    </>
  );
}

/** Characters left at which the count shows. */
const COUNT_FROM = 20_000;

interface ComposerNoteProps {
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
function noteOf({ length, picture, problem, unkept, again, hint }: Omit<ComposerNoteProps, 'id'>): string | null {
  const left = LIMITS.messageText - length;
  if (left < 0)
    return t`This is ${count(length)} characters: ${count(-left)} more than one message can hold. Shorten it, or send it in parts.`;
  if (picture) return t`Pictures and files cannot be sent here yet. Words can.`;
  if (problem !== null) return problem.text;
  if (left < COUNT_FROM) return t`${count(left)} characters left`;
  if (unkept) return t`This draft is too long to be kept if the page is reloaded.`;
  return again ? t`Your last message, to be said anew. Escape takes it away.` : hint;
}

function ComposerNote({ id, ...about }: ComposerNoteProps) {
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

// Puts text into a field as if it had been typed, so that it can be undone. What sets a field's
// value otherwise ends its history.

interface Place {
  readonly from: number;
  readonly to: number;
  /** The field has the focus afterwards. Else it goes back to where it was. */
  readonly keepsFocus?: boolean;
}

/** The caret stands behind the text then. The field's `input` event is fired. */
function putText(box: HTMLTextAreaElement, text: string, { from, to, keepsFocus = true }: Place): void {
  const before = document.activeElement;
  box.focus({ preventScroll: true });
  box.setSelectionRange(from, to);
  // It is deprecated, and the only way that browsers have. An empty text deletes what is selected.
  const isPut = text === '' ? document.execCommand?.('delete') : document.execCommand?.('insertText', false, text);
  if (!isPut) {
    box.setRangeText(text, from, to, 'end');
    box.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText', data: text }));
  }
  if (!keepsFocus && before instanceof HTMLElement && before !== box) before.focus({ preventScroll: true });
}

// Completing a mention while one writes.

interface Mentioning {
  /** Who may be meant; empty where no mention is being typed. */
  readonly people: readonly Teammate[];
  readonly active: number;
  readonly point: (index: number) => void;
  readonly pick: (index: number) => void;
  /** The text or the caret has changed. */
  readonly look: () => void;
  readonly leave: () => void;
  /** True where the key was for the list. */
  readonly onKeyDown: (event: KeyboardEvent) => boolean;
}

/** Completing a mention in a field. `onPut`: the field's text was changed from here. */
function useMentioning(
  field: RefObject<HTMLTextAreaElement | null>,
  among: readonly Teammate[],
  onPut: () => void,
): Mentioning {
  const [typing, setTyping] = useState<Typing | null>(null);
  const [active, setActive] = useState(0);
  /** Where the `@` stands whose list was closed. */
  const [left, setLeft] = useState<number | null>(null);
  const people = typing && typing.start !== left ? meant(typing.query, among) : [];

  const look = useCallback(() => {
    const box = field.current;
    if (among.length === 0) return;
    const found = box && box.selectionStart === box.selectionEnd ? typingAt(box.value, box.selectionStart) : null;
    setTyping(found);
    setLeft((start) => (found?.start === start ? start : null));
    setActive(0);
  }, [field, among.length]);

  const pick = (index: number) => {
    const box = field.current;
    const who = people[index];
    if (!box || !who || !typing) return;
    const caret = box.selectionStart;
    const rest = box.value.length - caret;
    const put = complete(box.value, caret, typing, who);
    putText(box, put.text.slice(typing.start, put.text.length - rest), { from: typing.start, to: caret });
    box.setSelectionRange(put.caret, put.caret);
    setTyping(null);
    setLeft(typing.start);
    onPut();
  };

  const onKeyDown = (event: KeyboardEvent): boolean => {
    const key = keyOf(event);
    if (people.length === 0 || key === '') return false;
    const at = Math.min(active, people.length - 1);
    if (key === 'ArrowDown') setActive((at + 1) % people.length);
    else if (key === 'ArrowUp') setActive((at - 1 + people.length) % people.length);
    else if (key === 'Enter' && !event.shiftKey) pick(at);
    else if (key === 'Tab' && !event.shiftKey) pick(at);
    else if (key === 'Escape') setLeft(typing?.start ?? null);
    else return false;
    event.preventDefault();
    return true;
  };

  return {
    people,
    active: Math.min(active, Math.max(0, people.length - 1)),
    point: setActive,
    pick,
    look,
    leave: () => setTyping(null),
    onKeyDown,
  };
}

const optionId = (id: string, index: number): string => `${id}-${index}`;

/**
 * Who may be meant by what is typed after an `@`. The focus stays in the field, which says which
 * one is active.
 */
function Suggestions({ id, mentioning: { people, active, pick, point } }: { id: string; mentioning: Mentioning }) {
  return (
    <div id={id} className="suggestions" role="listbox" aria-label={t`Who is meant`}>
      {people.map((who, i) => (
        // The field has the keys; this is for the pointer.
        // eslint-disable-next-line jsx-a11y/click-events-have-key-events
        <div
          key={who.agentId}
          id={optionId(id, i)}
          role="option"
          tabIndex={-1}
          aria-selected={i === active}
          className="tint"
          style={{ '--c': who.color }}
          onMouseDown={(event) => event.preventDefault()}
          onMouseMove={() => point(i)}
          onClick={() => pick(i)}
        >
          <Face agentId={who.agentId} face={who.face} color={who.color} awake={false} />
          <span dir="auto">{who.name}</span>
        </div>
      ))}
    </div>
  );
}

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
