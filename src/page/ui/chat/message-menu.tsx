/**
 * What can be done with one message of a conversation or of a thread: quote it, copy it, copy the
 * way to it.
 */
import { createContext, use, useRef, type KeyboardEvent } from 'react';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { copyText } from '../parts/copy.ts';
import { MoreIcon } from '../parts/icons.tsx';
import { MenuButton } from '../parts/menu.tsx';
import { copied } from '../text/copied.ts';
import { quoted } from '../text/quote.ts';
import { fullTime } from '../text/time.ts';
import { canReadAloud } from '../voice/available.ts';
import { keyOf } from '../parts/keys.ts';

/**
 * Puts text into the field where one writes, after what stands there; null: nothing can be written
 * here.
 */
export const QuoteInto = createContext<((text: string) => void) | null>(null);

/** What is marked of what this message says; nothing where the mark reaches beyond it. */
function markedIn(message: Element | null | undefined): string {
  const mark = document.getSelection();
  if (!message || !mark || mark.rangeCount === 0 || mark.isCollapsed) return '';
  const range = mark.getRangeAt(0);
  return message.contains(range.commonAncestorContainer) ? (copied(range)?.text ?? mark.toString()) : '';
}

interface Props {
  readonly mine: boolean;
  /** Who said it, and what they are called. */
  readonly who: string;
  readonly name: string;
  /**
   * When it was said, in ms since the epoch: it stands above what can be done, for whoever has no
   * pointer to rest on it.
   */
  readonly time: number;
  /** Its words as they were written: Markdown. */
  readonly text: () => string;
  /** Its address, from the root. */
  readonly path: string;
  /** Says it anew from here; null: it cannot be. */
  readonly edit?: (() => void) | null;
}

/**
 * In the line of the speaker's name, so that no message is higher for it. Arrows go to the next
 * message's.
 */
export function MessageMenu({ mine, who, name, time, text, path, edit = null }: Props) {
  const state = useRoost();
  const quote = use(QuoteInto);
  const frame = useRef<HTMLDivElement>(null);
  /** What was marked when its button was pressed: the press itself takes the mark away. */
  const marked = useRef('');
  const onPress = () => {
    if (!frame.current?.querySelector('[role=menu]')) marked.current = markedIn(frame.current?.closest('.msg'));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    onPress();
    const key = keyOf(event);
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...(frame.current?.closest('.log')?.querySelectorAll<HTMLElement>('.msg-menu > button') ?? [])];
    const next = all[all.findIndex((button) => button === document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    // The keys go to the button within.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className="msg-menu" ref={frame} onPointerDown={onPress} onKeyDown={onKeyDown}>
      <MenuButton
        label={mine ? t`More about what you wrote` : t`More about what ${name} said`}
        note={fullTime(time)}
        items={[
          ...(quote
            ? [
                {
                  label: t`Quote`,
                  hint: t`Into your message. What you have marked of it, or all.`,
                  run: () => quote(quoted(marked.current || text())),
                },
              ]
            : []),
          ...(edit
            ? [{ label: t`Edit from here`, hint: t`What came after it stays, as an earlier version`, run: edit }]
            : []),
          ...(canReadAloud()
            ? [
                {
                  label: t`Read aloud`,
                  run: () =>
                    void import('../voice/read-aloud.ts').then(({ readAloud }) =>
                      readAloud(state, who, name, marked.current || text()),
                    ),
                },
              ]
            : []),
          { label: t`Copy as Markdown`, run: () => void copyText(state, text(), t`Message`) },
          {
            label: t`Copy link`,
            hint: t`For somebody who may open your Roost.`,
            run: () => void copyText(state, new URL(path, location.href).href, t`Link`),
          },
        ]}
      >
        <MoreIcon />
      </MenuButton>
    </div>
  );
}
