/** Modal dialogs, and the dialog that confirms an action. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { CloseIcon } from './icons.tsx';
import { openModal } from './keys.ts';
import { useWords } from './words.ts';
import './dialog.css';
import { useAction } from './use-action.ts';
import { WrongNote } from './field.tsx';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** `side`: slides in from the edge, at full height. */
  readonly shape?: 'box' | 'wide' | 'side';
  /** It contains only text. The text takes the focus, so that keys scroll it. */
  readonly isRead?: boolean;
}

/**
 * A native modal dialog: it traps the focus, Escape and the backdrop close it, and the focus
 * returns to where it was.
 */
export function Dialog({ title, onClose, children, shape = 'box', isRead = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleRef = useRef<HTMLHeadingElement>(null);
  const heading = useId();
  const words = useWords();
  useEffect(() => {
    const before = document.activeElement;
    const close = ref.current ? openModal(ref.current) : undefined;
    // The browser would choose the first button, which closes the dialog.
    titleRef.current?.focus();
    return () => {
      close?.();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // The backdrop is the dialog itself, outside of its inner box. Pressing it closes the dialog,
    // as Escape does.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={ref}
      className={`dialog dialog-${shape}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        // React tells those around it too: a dialog inside this one, and a field for files.
        if (event.target === ref.current) onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div className="dialog-inside">
        <header className="dialog-head">
          <h2 ref={titleRef} id={heading} tabIndex={-1}>
            {title}
          </h2>
          <button type="button" className="icon-button" aria-label={words.close} onClick={onClose}>
            <CloseIcon />
          </button>
        </header>
        {/* A scrollable element without a focusable child cannot be reached without a pointer. */}
        <div className="dialog-body" {...(isRead ? { tabIndex: 0, role: 'group', 'aria-labelledby': heading } : {})}>
          {children}
        </div>
      </div>
    </dialog>
  );
}

interface SureDialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Label of the confirming button. */
  readonly does: string;
  /** Label of the button that does nothing; left out: "Keep it". */
  readonly stays?: string;
  /** Resolves with the reason of a failure; null: success, and the dialog closes. */
  readonly onSure: () => Promise<string | null>;
  readonly onClose: () => void;
}

/** Confirms an action that changes or removes a lot. */
export function SureDialog({ title, children, does, stays, onSure, onClose }: SureDialogProps) {
  const words = useWords();
  const { busy, failed, act } = useAction();
  const run = () =>
    act(async () => {
      const why = await onSure();
      if (why === null) onClose();
      return why;
    });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <WrongNote text={failed} />
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onClose}>
          {stays ?? words.keep}
        </button>
        <button type="button" className="danger-button" disabled={busy} onClick={run}>
          {busy ? words.working : does}
        </button>
      </div>
    </Dialog>
  );
}

/** A `ref` for a button that replaces a pressed one: it takes the focus without scrolling. */
export const takeFocus = (button: HTMLButtonElement | null): void => button?.focus({ preventScroll: true });
