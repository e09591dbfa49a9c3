import { useEffect, useId, useRef, type ReactNode } from 'react';
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
