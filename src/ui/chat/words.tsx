import { lazy, memo, Suspense, useDeferredValue } from 'react';

/** Characters above which a text is shown as it stands: setting it as Markdown would hold the page up. */
const MARKDOWN_MOST = 60_000;

function Plain({ text }: { text: string }) {
  return (
    <p className="plain" dir="auto">
      {text}
    </p>
  );
}

/** Where it cannot be fetched, because the relay is gone, words are shown as they stand until the page is loaded again. */
const Markdown = lazy(() => import('./markdown.tsx').catch(() => ({ default: memo(Plain) })));

/** An agent's words, as Markdown; plain until that is loaded. */
export const Words = memo(function Words({ text }: { text: string }) {
  const shown = useDeferredValue(text);
  if (text.length > MARKDOWN_MOST) return <Plain text={text} />;
  return (
    <Suspense fallback={<Plain text={text} />}>
      <Markdown text={shown} />
    </Suspense>
  );
});
