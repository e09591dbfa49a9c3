import type { ReactNode } from 'react';

/** What went wrong, said at once; `children`: what to do about it. */
export function Wrong({ title, reason, children }: { title: string; reason: string; children?: ReactNode }) {
  return (
    <div className="wrong-note" role="alert">
      <p>
        <strong>{title}</strong> {reason}
      </p>
      {children}
    </div>
  );
}
