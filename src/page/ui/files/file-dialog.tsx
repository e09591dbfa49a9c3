import { useEffect, useState } from 'react';
import { anyFileText } from '../../../shared/domain/file-text.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { SHOWN_BYTES, type FileEntry } from '../../../shared/protocol/endpoints/workspaces.ts';
import { filesOf } from '../../state/files.ts';
import { problemText } from '../../state/ports.ts';
import { Words } from '../chat/words.tsx';
import { useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Patch } from '../parts/diff.tsx';
import { bytes } from '../text/sizes.ts';

type Content =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'none'; readonly why: string };

interface Props {
  readonly agentId: AgentId;
  readonly path: string;
  readonly entry: FileEntry;
  readonly onTake: () => void;
  readonly onClose: () => void;
}

/** How a file is shown, by its name. Pure. */
type ShownAs = { readonly kind: 'text' | 'markdown' | 'patch' } | { readonly kind: 'image'; readonly type: string };

/**
 * Pictures that a browser draws without running anything; SVG can hold scripts, and is shown as
 * text.
 */
const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
};

function shownAs(name: string): ShownAs {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const type = Object.hasOwn(IMAGES, ending) ? IMAGES[ending] : undefined;
  if (type !== undefined) return { kind: 'image', type };
  if (ending === 'md' || ending === 'markdown') return { kind: 'markdown' };
  return { kind: ending === 'diff' || ending === 'patch' ? 'patch' : 'text' };
}

/**
 * What a file holds, where a page can show it: text, Markdown, changes and pictures. Nothing of it
 * runs.
 */
function useContent({ agentId, path, entry }: Pick<Props, 'agentId' | 'path' | 'entry'>): Content {
  const files = filesOf(useRoost());
  const [content, setContent] = useState<Content>({ kind: 'loading' });
  useEffect(() => {
    let over = false;
    let url: string | null = null;
    const as = shownAs(entry.name);
    const read = async (): Promise<Content> => {
      if (entry.bytes > SHOWN_BYTES)
        return { kind: 'none', why: t`It is ${bytes(entry.bytes)} long, which is more than is shown here.` };
      const got = await files.read(agentId, path);
      if (!got.ok) return { kind: 'failed', why: problemText(got.problem) };
      if (as.kind === 'image') {
        url = URL.createObjectURL(new Blob([got.value], { type: as.type }));
        return { kind: 'image', url };
      }
      const text = anyFileText(new Uint8Array(await got.value.arrayBuffer()));
      return text === null
        ? { kind: 'none', why: t`It is no text, and no picture that is shown here.` }
        : { kind: 'text', text };
    };
    void read().then((next) => {
      if (over) return url === null ? undefined : URL.revokeObjectURL(url);
      setContent(next);
    });
    return () => {
      over = true;
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [files, agentId, path, entry.name, entry.bytes]);
  return content;
}

function Shown({ content, name }: { content: Content; name: string }) {
  switch (content.kind) {
    case 'loading':
      return <p role="status">{t`Reading it…`}</p>;
    case 'failed':
      return <p role="alert">{t`It could not be read. ${content.why}`}</p>;
    case 'none':
      return <p>{t`${content.why} Download it to open it.`}</p>;
    case 'image':
      return <img className="files-picture" src={content.url} alt={name} />;
    case 'text':
      if (shownAs(name).kind === 'patch') return <Patch text={content.text} label={t`Change in ${name}`} />;
      return shownAs(name).kind === 'markdown' ? (
        <div className="files-markdown">
          <Words text={content.text} breaks={false} />
        </div>
      ) : (
        // Scrolls by itself where it is too wide, by keyboard too.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <pre className="files-text" dir="auto" tabIndex={0} role="region" aria-label={t`Text of ${name}`}>
          {content.text === '' ? t`It is empty.` : content.text}
        </pre>
      );
    default:
      return content satisfies never;
  }
}

/** One file, opened. */
export function FileDialog({ agentId, path, entry, onTake, onClose }: Props) {
  const content = useContent({ agentId, path, entry });
  return (
    <Dialog title={entry.name} shape="wide" onClose={onClose}>
      <Shown content={content} name={entry.name} />
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onTake}>{t`Download`}</button>
      </div>
    </Dialog>
  );
}
