/** Mentions as chips, in what a person wrote and in an agent's Markdown. */
import { Children, createContext, use, type ComponentType, type HTMLAttributes, type ReactNode } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import { Link } from 'wouter';
import { components, keepUrl, plugins } from '../chat/markdown.tsx';
import { PATHS } from '../places.ts';
import type { Teammate } from '../use-teammates.ts';
import { piecesOf } from './mentions.ts';

/** Those whom the message mentions. */
const Mentioned = createContext<readonly Teammate[]>([]);

export function Chip({ who, text = `@${who.name}` }: { who: Teammate; text?: string }) {
  return (
    <Link href={PATHS.agent(who.agentId)} className="mention tint" style={{ '--c': who.color }} dir="auto">
      {text}
    </Link>
  );
}

/** Text as it stands, mentions as chips. */
export function WithChips({ text, among }: { text: string; among: readonly Teammate[] }): ReactNode {
  return piecesOf(text, among).map((piece, i) => {
    const who = piece.kind === 'mention' ? among.find(({ agentId }) => agentId === piece.agentId) : undefined;
    // Pieces of one text never move: a piece's place is its identity.
    return who ? <Chip key={i} who={who} text={piece.text} /> : piece.text;
  });
}

function Inside({ children }: { children: ReactNode }) {
  const among = use(Mentioned);
  return Children.map(children, (child) =>
    typeof child === 'string' ? <WithChips text={child} among={among} /> : child,
  );
}

type Tag = 'p' | 'li' | 'td' | 'th' | 'strong' | 'em' | 'del' | 'h3' | 'h4' | 'h5' | 'h6';
/** This element, with chips for the mentions that stand directly in it. */
const chipped = (Element: Tag): ComponentType<HTMLAttributes<HTMLElement> & ExtraProps> =>
  function Chipped({ children, className, id, style }) {
    return (
      <Element className={className} id={id} style={style}>
        <Inside>{children}</Inside>
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

/** An agent's words, with chips for those whom they mention. */
export function ChippedMarkdown({ text, mentioned }: { text: string; mentioned: readonly Teammate[] }) {
  return (
    <div className="md" dir="auto">
      <Mentioned value={mentioned}>
        <ReactMarkdown remarkPlugins={plugins} components={withChips} urlTransform={keepUrl}>
          {text}
        </ReactMarkdown>
      </Mentioned>
    </div>
  );
}
