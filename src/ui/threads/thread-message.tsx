import { memo, Children, createContext, use, type ComponentType, type HTMLAttributes, type ReactNode } from 'react';
import type { ThreadMessage } from '../../protocol/threads.ts';
import type { ThreadSending, ThreadTalk } from '../../state/threads/index.ts';
import { Bubble, type Speaker } from '../chat/message.tsx';
import type { Teammate } from '../use-teammates.ts';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import { Link } from 'wouter';
import { components, keepUrl, plugins } from '../chat/markdown.tsx';
import { PATHS } from '../places.ts';
import { piecesOf, mentionedIn } from './mentions.ts';

/** Mentions as chips, in what a person wrote and in an agent's Markdown. */

/** Those whom the message mentions. */
const Mentioned = createContext<readonly Teammate[]>([]);

function Chip({ who, text = `@${who.name}` }: { who: Teammate; text?: string }) {
  return (
    <Link href={PATHS.agent(who.agentId)} className="mention tint" style={{ '--c': who.color }} dir="auto">
      {text}
    </Link>
  );
}

/** Text as it stands, mentions as chips. */
function WithChips({ text, among }: { text: string; among: readonly Teammate[] }): ReactNode {
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
function ChippedMarkdown({ text, mentioned }: { text: string; mentioned: readonly Teammate[] }) {
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

const speakerOf = ({ agentId, name, birthName, color, retired }: Teammate): Speaker => ({
  kind: 'seatless',
  agentId,
  name,
  birthName,
  color,
  awake: false,
  retired,
});

/** What is said in a thread, and by whom. `mentioned`: those whom it is meant for. */
export const Said = memo(function Said({
  message,
  from,
  mentioned,
}: {
  message: ThreadMessage;
  from: Teammate;
  mentioned: readonly Teammate[];
}) {
  const mine = message.from === 'human';
  const named = mentionedIn(message.text, mentioned);
  const unnamed = mentioned.filter(({ agentId }) => !named.includes(agentId));
  return (
    <Bubble
      speaker={speakerOf(from)}
      time={message.time}
      mine={mine}
      {...(message.restored ? { foot: <p className="msg-status">Given back to the relay</p> } : {})}
    >
      {unnamed.length > 0 && (
        <p className="mention-for">
          for{' '}
          {unnamed.map((who) => (
            <Chip key={who.agentId} who={who} />
          ))}
        </p>
      )}
      {mine ? (
        <p className="plain" dir="auto">
          <WithChips text={message.text} among={mentioned} />
        </p>
      ) : (
        <ChippedMarkdown text={message.text} mentioned={mentioned} />
      )}
    </Bubble>
  );
});

/** What the person wrote and the thread does not have yet. */
export function OnItsWay({
  item,
  me,
  mentioned,
  talk,
  onTakeBack,
}: {
  item: ThreadSending;
  me: Teammate;
  mentioned: readonly Teammate[];
  talk: ThreadTalk;
  onTakeBack: (text: string) => void;
}) {
  const foot =
    item.error === null ? (
      <p className="msg-status">Sending…</p>
    ) : (
      <p className="msg-status" data-status="failed" role="alert">
        Not sent: {item.error}
        <button type="button" className="link-button" onClick={() => void talk.sendAgain(item.clientId)}>
          Try again
        </button>
        <button type="button" className="link-button" onClick={() => onTakeBack(talk.takeBack(item.clientId))}>
          Take back
        </button>
      </p>
    );
  return (
    <Bubble speaker={speakerOf(me)} time={item.time} mine foot={foot}>
      <p className="plain" dir="auto">
        <WithChips text={item.text} among={mentioned} />
      </p>
    </Bubble>
  );
}
