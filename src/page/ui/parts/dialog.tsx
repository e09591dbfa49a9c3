import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../../language/t.ts';
import { CloseIcon } from './icons.tsx';
import { openModal } from './top-dialog.ts';
import './dialog.css';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** `side`: slides in from the edge, over the whole height. */
  readonly shape?: 'box' | 'wide' | 'side';
  /** Only words stand in it: it takes the focus itself, so that keys scroll it. */
  readonly isRead?: boolean;
}

/**
 * A native modal dialog: focus stays inside, Escape and the backdrop close it, focus returns to
 * where it was.
 */
export function Dialog({ title, onClose, children, shape = 'box', isRead = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleRef = useRef<HTMLHeadingElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    const close = ref.current ? openModal(ref.current) : undefined;
    // The browser would choose the first button, which is the one that closes.
    titleRef.current?.focus();
    return () => {
      close?.();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // The backdrop is the dialog itself, outside of its inner box: pressing it closes, as Escape
    // does.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={ref}
      className={`dialog dialog-${shape}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
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
          <button type="button" className="icon-button" aria-label={t`Close`} onClick={onClose}>
            <CloseIcon />
          </button>
        </header>
        {/* What scrolls and holds nothing that has the focus is reached by nobody without a pointer. */}
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
  /** The button that does it, and what stands on it meanwhile. */
  readonly does: readonly [label: string, meanwhile: string];
  /** What could not be done, as a sentence begins: "It could not be revoked". */
  readonly undone: string;
  /** Resolves with why it was not done; null: it was, and the dialog closes. */
  readonly onSure: () => Promise<string | null>;
  readonly onClose: () => void;
}

/** What cannot be taken back is asked once more. */
export function SureDialog({ title, children, does: [label, meanwhile], undone, onSure, onClose }: SureDialogProps) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const run = async () => {
    if (busy) return;
    setBusy(true);
    const why = await onSure();
    setBusy(false);
    setFailed(why);
    if (why === null) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {failed !== null && (
        <p className="wrong-note" role="alert">
          {undone}: {failed}
        </p>
      )}
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onClose}>{t`Keep it`}</button>
        <button type="button" className="danger-button" disabled={busy} onClick={() => void run()}>
          {busy ? meanwhile : label}
        </button>
      </div>
    </Dialog>
  );
}

/**
 * As a `ref` of the button that stands where the one stood that was pressed: it takes the focus,
 * and moves nothing.
 */
export const takeFocus = (button: HTMLButtonElement | null): void => button?.focus({ preventScroll: true });
