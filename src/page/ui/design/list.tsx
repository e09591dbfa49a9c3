/** Lists of rows, a list without rows, and the state of a row. */
import type { ReactNode } from 'react';
import './list.css';

/** `label`: its heading, where none is visible. */
export function List({ label, children }: { label?: string; children: ReactNode }) {
  return (
    <ul className="rows" aria-label={label}>
      {children}
    </ul>
  );
}

interface RowProps {
  readonly children: ReactNode;
  /** A second, quieter line. */
  readonly about?: ReactNode;
  /** Its controls, at the end. */
  readonly acts?: ReactNode;
}

export function Row({ children, about, acts }: RowProps) {
  return (
    <li className="row">
      <div>
        {children}
        {about !== undefined && <small>{about}</small>}
      </div>
      {acts}
    </li>
  );
}

/** What is shown in place of an empty list, with the way to its first row. */
export function Empty({ children, act }: { children: ReactNode; act?: ReactNode }) {
  return (
    <div className="empty">
      <p>{children}</p>
      {act}
    </div>
  );
}

/** What is shown in place of a page without content yet. */
export function EmptyPage({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <div className="empty-page">
      {icon}
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A state as a word with a dot, so that it never depends on colour alone. */
export function Status({ tone, children }: { tone: 'good' | 'warn' | 'bad' | 'quiet'; children: ReactNode }) {
  return (
    <span className="status" data-tone={tone}>
      {children}
    </span>
  );
}
