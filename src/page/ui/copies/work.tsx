import { t } from '../../language/t.ts';
import type { ArchiveProgress } from '../../state/agent-copies.ts';
import { Progress } from '../parts/progress.tsx';
import { count, plural } from '../text/sizes.ts';

/** Long work on a file, and the way to call it off. */
export function Work({
  label,
  progress,
  onCancel,
}: {
  label: string;
  progress: ArchiveProgress | null;
  onCancel: () => void;
}) {
  const isKey = progress?.stage === 'key';
  const { done, of } = progress && !isKey ? progress : { done: 0, of: 0 };
  return (
    <div className="copies-work">
      <Progress
        label={isKey ? t`Making the key from the passphrase…` : label}
        done={done}
        of={of}
        {...(of > 0 ? { text: t`${count(Math.min(done, of))} of ${plural(of, 'entry', 'entries')}` } : {})}
      />
      <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
    </div>
  );
}
