/** A menu that opens from a button, in the top layer. */
import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { keyOf } from './keys.ts';
import './menu.css';

export interface MenuItem {
  readonly label: string;
  /** A second line: its effect, or why it is disabled. */
  readonly hint?: string;
  readonly disabled?: boolean;
  /** Before its label. Decorative. */
  readonly icon?: ReactNode;
  readonly run: () => void;
}

/** Distance of the menu from its button and from the window's edge, in px. */
const GAP = 6;

interface ListProps {
  readonly label: string;
  /** A text above its items, which is no item. */
  readonly note?: string | undefined;
  readonly items: readonly MenuItem[];
  readonly anchor: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

/**
 * The open menu: arrows move, Enter chooses, Escape and Tab close it, and the focus returns to its
 * button.
 */
export function MenuList({ label, note, items, anchor, onClose }: ListProps) {
  const noteId = useId();
  const ref = useRef<HTMLDivElement>(null);
  const [position, setPosition] = useState<{ left: number; top: number } | null>(null);

  useLayoutEffect(() => {
    const menu = ref.current;
    const from = anchor.current?.getBoundingClientRect();
    if (!menu || !from) return;
    // In the top layer, so that no scrolling or clipping ancestor cuts it off.
    if (typeof menu.showPopover === 'function') menu.showPopover();
    const { width, height } = menu.getBoundingClientRect();
    const left = Math.max(GAP, Math.min(from.right - width, innerWidth - width - GAP));
    const below = from.bottom + GAP;
    const top = below + height > innerHeight - GAP ? Math.max(GAP, from.top - height - GAP) : below;
    setPosition({
      left: from.left < innerWidth / 2 ? Math.max(GAP, Math.min(from.left, innerWidth - width - GAP)) : left,
      top,
    });
  }, [anchor]);

  // Hidden elements cannot take the focus, so this waits for the position. If no item can be
  // chosen, the menu itself handles the keys.
  const placed = position !== null;
  // The items may arrive a moment after the menu was opened.
  const isEmpty = items.length === 0;
  useLayoutEffect(() => {
    if (placed)
      (ref.current?.querySelector<HTMLElement>('[role=menuitem]:not([aria-disabled=true])') ?? ref.current)?.focus();
  }, [placed, isEmpty]);
  useEffect(() => {
    const outside = (event: Event) => {
      const { target } = event;
      if (target instanceof Node && !ref.current?.contains(target) && !anchor.current?.contains(target)) onClose();
    };
    document.addEventListener('pointerdown', outside);
    window.addEventListener('resize', onClose);
    return () => {
      document.removeEventListener('pointerdown', outside);
      window.removeEventListener('resize', onClose);
    };
  }, [anchor, onClose]);

  const leave = () => {
    anchor.current?.focus();
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const all = [...(ref.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = all.findIndex((item) => item === document.activeElement);
    const move = (to: number) => {
      event.preventDefault();
      all[(to + all.length) % all.length]?.focus();
    };
    const key = keyOf(event);
    event.stopPropagation();
    if (key === 'ArrowDown') move(at + 1);
    else if (key === 'ArrowUp') move(at - 1);
    else if (key === 'Home') move(0);
    else if (key === 'End') move(all.length - 1);
    else if (key === 'Escape' || key === 'Tab') {
      event.preventDefault();
      leave();
    }
  };

  return (
    <div
      ref={ref}
      className="menu"
      role="menu"
      popover="manual"
      tabIndex={-1}
      aria-label={label}
      {...(note === undefined ? {} : { 'aria-describedby': noteId })}
      onKeyDown={onKeyDown}
      style={position ? { left: position.left, top: position.top } : { visibility: 'hidden' }}
    >
      {note !== undefined && (
        <p id={noteId} className="menu-note">
          {note}
        </p>
      )}
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          aria-disabled={item.disabled === true}
          onClick={() => {
            if (item.disabled) return;
            leave();
            item.run();
          }}
        >
          {item.icon !== undefined && <span className="menu-icon">{item.icon}</span>}
          <span>{item.label}</span>
          {item.hint && <small>{item.hint}</small>}
        </button>
      ))}
    </div>
  );
}

interface ButtonProps {
  readonly label: string;
  readonly note?: string;
  readonly items: readonly MenuItem[];
  readonly className?: string;
  readonly tabIndex?: number;
  readonly children: ReactNode;
}

export function MenuButton({ label, note, items, className = 'icon-button', tabIndex, children }: ButtonProps) {
  const ref = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <button
        ref={ref}
        id={id}
        type="button"
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        {...(tabIndex === undefined ? {} : { tabIndex })}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && <MenuList label={label} note={note} items={items} anchor={ref} onClose={() => setOpen(false)} />}
    </>
  );
}
