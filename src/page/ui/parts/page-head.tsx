import type { ReactNode } from 'react';
import { t } from '../../language/t.ts';
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
  return (
    <div className="page-head">
      <h1 tabIndex={-1}>{title}</h1>
      <div className="page-ways">
        {children}
        <button type="button" className="ghost" onClick={onClose}>
          <CloseIcon /> {t`Close`}
        </button>
      </div>
    </div>
  );
}
