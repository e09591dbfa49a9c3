/**
 * Markdown, inert: raw HTML is shown as the text it is, links open elsewhere and only lead to the web or to
 * mail, and nothing is fetched: a picture is a link to where it lies.
 */
import { Children, lazy, memo, Suspense, use, type ComponentType, type HTMLAttributes, type ReactNode } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { urlOf } from '../../domain/platform/old-browsers.ts';
import { t } from '../../language/t.ts';
import { CodeBlock } from '../code/code-block.tsx';
import { AsWritten } from './formula-as-written.tsx';
import { formulaOf, withFormulas, type ShownFormula } from './maths.ts';
import { Mentioned, WithChips } from './mentioned.tsx';
import { settingOf } from './parsed.ts';
import './markdown.css';

const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** The address, if it is absolute and of a kind that may be opened; else null. */
export function safeUrl(href: string | undefined): URL | null {
  const url = href === undefined ? null : urlOf(href);
  return url && SAFE.has(url.protocol) ? url : null;
}

function Outside({ url, children }: { url: URL; children: ReactNode }) {
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      <span className="visually-hidden"> {t`(opens in a new tab)`}</span>
    </a>
  );
}

// Where it cannot be fetched, because the relay is gone, a formula is shown as it was written.
const loadFormula = () => import('./formula.tsx').catch(() => ({ default: AsWritten }));
const Formula = lazy(loadFormula);
/** Until it is set, it stands as it was written, and is not seen. */
function SetFormula(formula: ShownFormula) {
  return (
    <Suspense fallback={<AsWritten {...formula} waits />}>
      <Formula {...formula} />
    </Suspense>
  );
}

const components: Components = {
  a({ href, children }) {
    const url = safeUrl(href);
    return url ? <Outside url={url}>{children}</Outside> : <span>{children}</span>;
  },
  img({ src, alt }) {
    const url = safeUrl(typeof src === 'string' ? src : undefined);
    if (!url || url.protocol === 'mailto:') return <span className="md-image">{alt || t`a picture`}</span>;
    return (
      <span className="md-image">
        {alt && `${alt} · `}
        <Outside url={url}>{t`Show image from ${url.host}`}</Outside>
      </span>
    );
  },
  table: ({ children }) => (
    // Scrolls by itself where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="md-table" role="region" aria-label={t`Table`} tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  code({ children, className }) {
    const shown = formulaOf(children);
    return shown ? <SetFormula {...shown} /> : <code className={className}>{children}</code>;
  },
  input: ({ checked }) => (
    <span aria-label={checked ? t`done` : t`to do`} role="img" className="md-check" data-checked={checked === true} />
  ),
  // A message is not a page: its headings stay below the page's own.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
};

type Tag = 'p' | 'li' | 'td' | 'th' | 'strong' | 'em' | 'del' | 'h3' | 'h4' | 'h5' | 'h6';
/** This element, with chips for the mentions that stand directly in it. */
const chipped = (Element: Tag): ComponentType<HTMLAttributes<HTMLElement> & ExtraProps> =>
  function Chipped({ children, className, id, style }) {
    return (
      <Element className={className} id={id} style={style}>
        {Children.map(children, (child) => (typeof child === 'string' ? <WithChips text={child} /> : child))}
      </Element>
    );
  };

const withChips: Components = {
  ...components,
  p: chipped('p'),
  li: chipped('li'),
  td: chipped('td'),
  th: chipped('th'),
  strong: chipped('strong'),
  em: chipped('em'),
  del: chipped('del'),
  h1: chipped('h3'),
  h2: chipped('h4'),
  h3: chipped('h5'),
  h4: chipped('h6'),
  h5: chipped('h6'),
};

const remarkPlugins = [remarkGfm];
// Kept for the links and pictures above to judge; nothing else in the tree carries an address.
const urlTransform = (url: string) => url;
const setter = (of: Components) => (text: string) =>
  ReactMarkdown({ remarkPlugins, components: of, urlTransform, children: withFormulas(text) ?? text });
const set = setter(components);
const setWithChips = setter(withChips);

/** `growing`: more words follow at once, so that this setting is not worth keeping. */
const Markdown = memo(function Markdown({ text, growing = false }: { text: string; growing?: boolean }) {
  // The same text with chips is set by itself. Whom they stand for they find out where they stand.
  const chips = use(Mentioned).length > 0;
  return (
    <div className="md" dir="auto">
      {chips ? settingOf(`@ ${text}`, () => setWithChips(text), !growing) : settingOf(text, set, !growing)}
    </div>
  );
});
export default Markdown;
