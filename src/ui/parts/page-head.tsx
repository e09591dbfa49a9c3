import { useEffect, useRef, type ReactNode } from 'react';
import { useTitle } from '../use-title.ts';
import { CloseIcon } from './icons.tsx';
import './page-head.css';

interface Props {
  readonly title: string;
  /** Where one is, more closely than the title says, for the browser's own title. */
  readonly pageTitle?: string;
  readonly onClose: () => void;
  /** Ways to what belongs to it. */
  readonly children?: ReactNode;
}

/** The head of what takes the whole page: its title, and the ways out of it. */
export function PageHead({ title, pageTitle = title, onClose, children }: Props) {
  useTitle(pageTitle);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]')) return;
      // In a field it leaves the field; the next one leaves the page.
      const { activeElement } = document;
      if (activeElement instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(activeElement.tagName))
        activeElement.blur();
      else close.current();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <div className="page-head">
      <h1 tabIndex={-1}>{title}</h1>
      <div className="page-ways">
        {children}
        <button type="button" className="ghost" onClick={onClose}>
          <CloseIcon /> Close
        </button>
      </div>
    </div>
  );
}
