/** Completing a mention while one writes. */
import { useCallback, useState, type KeyboardEvent, type RefObject } from 'react';
import { t } from '../../language/t.ts';
import { Face } from '../grid/face.tsx';
import type { Teammate } from '../use-teammates.ts';
import { complete, meant, typingAt, type Typing } from '../../../shared/domain/mentions.ts';
import { putText } from './put-text.ts';
import { keyOf } from '../parts/keys.ts';

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
export function useMentioning(
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

export const optionId = (id: string, index: number): string => `${id}-${index}`;

/**
 * Who may be meant by what is typed after an `@`. The focus stays in the field, which says which
 * one is active.
 */
export function Suggestions({
  id,
  mentioning: { people, active, pick, point },
}: {
  id: string;
  mentioning: Mentioning;
}) {
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
