/** What a request to forget would remove, before the person says yes. */
import { useEffect, useState } from 'react';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { ForgetTarget } from '../../../shared/domain/forgetting.ts';
import { t } from '../../language/t.ts';
import { type ForgetPreview, previewForget } from '../../state/forgets.ts';
import { useRoost } from '../context.tsx';
import { plural } from '../text/sizes.ts';

export function Preview({ preview }: { readonly preview: ForgetPreview }) {
  const { messages, summaries, notes, unread } = preview;
  return (
    <>
      <p>
        {[
          plural(messages, 'message'),
          plural(summaries.length, 'summary', 'summaries'),
          plural(notes.length, 'note'),
        ].join(' · ')}
      </p>
      {summaries.length + notes.length > 0 && (
        <ul className="forget-found" aria-label={t`Summaries and notes that came from it`}>
          {summaries.map(({ time, text }) => (
            <li key={time}>{text}</li>
          ))}
          {notes.map(({ path, text }, i) => (
            <li key={`${path} ${i}`}>
              <code dir="auto">{path}</code> <span>{text}</span>
            </li>
          ))}
        </ul>
      )}
      {unread !== null && <p>{t`Could not list the notes. Those that came from it are removed all the same.`}</p>}
    </>
  );
}

export function ForgetPreviewList({ target }: { readonly target: ForgetTarget }) {
  const state = useRoost();
  const [preview, setPreview] = useState<ForgetPreview | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const key = JSON.stringify(target);
  useEffect(() => {
    let over = false;
    previewForget(state, JSON.parse(key) as ForgetTarget).then(
      (found) => !over && setPreview(found),
      (error: unknown) => !over && setProblem(errorMessage(error)),
    );
    return () => {
      over = true;
    };
  }, [state, key]);
  if (problem !== null) return <p role="alert">{t`Could not load this. ${problem}`}</p>;
  return preview === null ? <p role="status">{t`Loading…`}</p> : <Preview preview={preview} />;
}
