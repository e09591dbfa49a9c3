import { lazy, Suspense, useState } from 'react';
import { t } from '../../language/t.ts';
import type { MessageDoc } from '../../../shared/protocol/documents.ts';

const VersionsDialog = lazy(() => import('./versions.tsx'));

/** Below a message that took the place of another: leads to what stood there. */
export function VersionsButton({ message, name }: { message: MessageDoc; name: string }) {
  const [open, setOpen] = useState(false);
  if (message.replaces === null) return null;
  return (
    <>
      <button type="button" className="link-button msg-fold" onClick={() => setOpen(true)}>{t`Earlier version`}</button>
      {open && (
        <Suspense fallback={null}>
          <VersionsDialog message={message} name={name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
