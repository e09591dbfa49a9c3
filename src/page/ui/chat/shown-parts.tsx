import { Fragment, memo, useState, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import type { Block } from '../../../shared/protocol/documents.ts';
import { partsOf, type ShownPart, type ToolBlock } from './parts.ts';
import { deedsOf, toolPhrase } from './deeds.ts';
import { namedIn, useTeammates } from '../use-somebody.ts';
import { Piece, Words } from './markdown.tsx';
import { ChevronIcon } from '../parts/icons.tsx';
import { bytes } from '../text/sizes.ts';
import { useOpened } from './log.tsx';

/** Characters of a tool's input or output that are shown at first. */
const SHOWN_AT_ONCE = 20_000;
/** Characters of a reasoning text that identify it. */
const KEY_CHARS = 200;

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''));

function Shown({ text }: { text: string }) {
  const [length, setLength] = useState(SHOWN_AT_ONCE);
  return (
    <>
      <pre dir="auto">{text.slice(0, length)}</pre>
      {text.length > length && (
        <button
          type="button"
          className="link-button"
          onClick={() => setLength(length + SHOWN_AT_ONCE)}
        >{t`Show more (${bytes(text.length - length)} left)`}</button>
      )}
    </>
  );
}

/** Consecutive tool calls, in one collapsed line. */
function ToolLines({ tools }: { tools: readonly ToolBlock[] }) {
  const [open, setOpen] = useOpened(tools[0]?.toolUseId ?? '');
  const nameOf = namedIn(useTeammates());
  return (
    <details
      className="tools"
      data-error={tools.some((tool) => tool.isError)}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <ChevronIcon />
        {deedsOf(tools, nameOf)}
      </summary>
      {open && (
        <dl>
          {tools.map((tool) => (
            <div key={tool.toolUseId}>
              <dt title={tool.name}>{toolPhrase(tool, nameOf)}</dt>
              <dd>
                <Shown text={shown(tool.input)} />
              </dd>
              <dd>
                <Shown text={tool.result ?? t`no answer yet`} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}

/** The model's reasoning, collapsed. `isGoing`: it is still reasoning. */
function Thinking({ text, isGoing }: { text: string; isGoing: boolean }) {
  const [open, setOpen] = useOpened(`thinking:${text.slice(0, KEY_CHARS)}`);
  return (
    <details className="tools thought" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChevronIcon />
        <span>{isGoing ? t`Thinking…` : t`What it thought`}</span>
      </summary>
      {open && (
        <div>
          <Words text={text} growing={isGoing} />
        </div>
      )}
    </details>
  );
}

function shownPart(part: ShownPart, isLast: boolean, isGrowing: boolean): ReactNode {
  switch (part.kind) {
    case 'piece':
      return <Piece piece={part.piece} />;
    case 'text':
      return <Words text={part.text} growing={isGrowing && isLast} ofAnswer={isGrowing} />;
    case 'thinking':
      return <Thinking text={part.text} isGoing={isGrowing && isLast} />;
    case 'tools':
      return <ToolLines tools={part.tools} />;
    default:
      return part satisfies never;
  }
}

/** One row's share of an agent's message. */
export const ShownParts = memo(function ShownParts({ parts }: { parts: readonly ShownPart[] }) {
  return parts.map((part, i) => <Fragment key={i}>{shownPart(part, false, false)}</Fragment>);
});

/** The agent's streaming answer. Parts are only ever appended, so the index is a stable key. */
export function GrowingParts({ blocks }: { blocks: readonly Block[] }) {
  return partsOf(blocks, true).map((part, i, all) => (
    <Fragment key={i}>{shownPart(part, i === all.length - 1, true)}</Fragment>
  ));
}
