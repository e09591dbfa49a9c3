import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { LIMITS } from '../../protocol/limits.ts';
import { useRoost } from '../context.tsx';
import { SendIcon, StopIcon } from '../parts/icons.tsx';
import { count } from '../text/sizes.ts';
import { useLeaving } from '../use-leaving.ts';
import { keepDraft, readDraft } from './drafts.ts';
import './composer.css';

/** Characters left at which the count shows. */
const COUNT_FROM = 20_000;
/** ms after the last key before a draft is kept. */
const KEEP_AFTER = 250;

/** Does the style sheet's `field-sizing` do it? Elsewhere the height follows the text by hand. */
const GROWS_BY_ITSELF = typeof CSS !== 'undefined' && CSS.supports('field-sizing', 'content');

interface Props {
  readonly agentId: string;
  readonly label: string;
  /** What happens to a message that is not read at once, or null. */
  readonly hint: string | null;
  readonly disabled: boolean;
  readonly answering: boolean;
  /** An edit under way: its text, and the way out of it. */
  readonly edit: { readonly text: string; readonly cancel: () => void } | null;
  /** Text was just put in from elsewhere: go on from there. */
  readonly takeFocus: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

/** A picture, or a file, with no words beside it. */
const holdsOnlyFiles = ({ files, types }: DataTransfer) => files.length > 0 && !types.includes('text/plain');

/**
 * Where a person writes. The text lives in the field itself: a megabyte pasted here goes through no state,
 * and nothing is cut: what is too long is counted and said.
 */
// In one piece: one field: what is in it, being edited or sent decides every key.
export function Composer({ agentId, label, hint, disabled, answering, edit, takeFocus, onSend, onStop }: Props) {
  const { tab } = useRoost().device;
  const field = useRef<HTMLTextAreaElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [length, setLength] = useState(() => (edit ? edit.text : readDraft(tab, agentId)).length);
  const [unkept, setUnkept] = useState(false);
  const [picture, setPicture] = useState(false);
  const note = useId();
  const editing = edit !== null;
  const over = length - LIMITS.messageText;
  const blank = length === 0;

  useEffect(() => {
    const box = field.current;
    if (!box || !(editing || takeFocus)) return;
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
  }, [editing, takeFocus]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const keep = () => {
    if (!editing) setUnkept(!keepDraft(tab, agentId, field.current?.value ?? ''));
  };
  useLeaving(keep);
  const onInput = () => {
    const box = field.current;
    setLength(box?.value.length ?? 0);
    setPicture(false);
    if (box && !GROWS_BY_ITSELF) {
      box.style.height = 'auto';
      box.style.height = `${box.scrollHeight}px`;
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(keep, KEEP_AFTER);
  };
  const send = () => {
    const text = field.current?.value ?? '';
    if (disabled || text.trim() === '' || text.length > LIMITS.messageText) return;
    onSend(text);
    if (field.current) field.current.value = '';
    onInput();
    if (!editing) keepDraft(tab, agentId, '');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && edit) edit.cancel();
    // While a script is being composed, Enter chooses a candidate.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      className="compose"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {edit && (
        <p className="compose-edit">
          Editing your last message. What came after it will be replaced.
          <button type="button" className="link-button" onClick={edit.cancel}>
            Cancel
          </button>
        </p>
      )}
      <div className="compose-box" data-disabled={disabled}>
        <textarea
          ref={field}
          name="message"
          rows={1}
          dir="auto"
          aria-label={label}
          placeholder={label}
          aria-describedby={note}
          aria-invalid={over > 0}
          disabled={disabled}
          defaultValue={edit ? edit.text : readDraft(tab, agentId)}
          onInput={onInput}
          onPaste={({ clipboardData }) => setPicture(holdsOnlyFiles(clipboardData))}
          onDrop={(event) => {
            if (!holdsOnlyFiles(event.dataTransfer)) return;
            // The browser would leave the page for the file.
            event.preventDefault();
            setPicture(true);
          }}
          onBlur={keep}
          onKeyDown={onKeyDown}
        />
        {answering && (
          <button
            type="button"
            className="compose-button compose-stop"
            aria-label="Stop"
            title="Stop this answer"
            onClick={onStop}
          >
            <StopIcon />
          </button>
        )}
        {(!answering || !blank) && (
          <button
            type="submit"
            className="compose-button"
            aria-label="Send"
            title="Send (Enter)"
            disabled={disabled || blank || over > 0}
          >
            <SendIcon />
          </button>
        )}
      </div>
      <p id={note} className="compose-note" role={over > 0 || picture ? 'alert' : undefined}>
        {over > 0
          ? `This is ${count(length)} characters: ${count(over)} more than one message can hold. Shorten it, or send it in parts.`
          : picture
            ? 'Pictures and files cannot be sent yet. Words can.'
            : length > LIMITS.messageText - COUNT_FROM
              ? `${count(-over)} characters left`
              : unkept
                ? 'This draft is too long to be kept if the page is reloaded.'
                : hint}
      </p>
    </form>
  );
}
