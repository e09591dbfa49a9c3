import { lazy, memo, Suspense, useDeferredValue } from 'react';

const Markdown = lazy(() => import('./markdown.tsx'));

/** Characters above which a text is shown as it stands: setting it as Markdown would hold the page up. */
const MARKDOWN_MOST = 60_000;

function Plain({ text }: { text: string }) {
  return (
    <p className="plain" dir="auto">
      {text}
    </p>
  );
}

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
