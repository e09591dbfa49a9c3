/** The page of an agent's folder: browse, view, upload, download and delete files. */
import { Link } from 'wouter';
import { useEffect, useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import {
  type FileEntry,
  type FolderAnswer,
  LEFT_OUT_NAME,
  SHOWN_BYTES,
} from '../../../shared/protocol/endpoints/workspaces.ts';
import { KEPT_DAYS } from '../../../shared/protocol/endpoints/history.ts';
import { anyFileText } from '../../../shared/domain/file-text.ts';
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { filesOf } from '../../state/files.ts';
import { problemText } from '../../state/ports.ts';
import { MoreIcon } from '../design/icons.tsx';
import { MenuButton, type MenuItem } from '../design/menu.tsx';
import { useClosedByBack } from '../shell/window.ts';
import { PATHS } from '../routes.ts';
import { bytes, plural } from '../text/sizes.ts';
import { clockTime, dayWithin } from '../text/time.ts';
import { useNow } from '../hooks.ts';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { Patch } from '../parts/diff.tsx';
import { download } from '../exports/sink.ts';
import { AgentSelect } from '../parts/choices.tsx';
import { DropZone } from '../design/drop-zone.tsx';
import { Tabs } from '../design/tabs.tsx';
import { PageHead, QueryView } from '../parts/page-head.tsx';
import { UsedBar } from '../design/progress.tsx';
import { useTeammates } from '../use-somebody.ts';
import { FileHistory, type OpenedPoint } from './history.tsx';
import './files.css';

interface Props {
  readonly agentId: AgentId;
  readonly folder: string;
  readonly entries: readonly FileEntry[];
  readonly onOpen: (entry: FileEntry) => void;
  readonly onTake: (entry: FileEntry) => void;
  readonly onRemove: (entry: FileEntry) => void;
}

const ODD: Partial<Record<FileEntry['kind'], string>> = {
  link: t`a link`,
  other: t`none`,
};

/** Folders first, then files, each by name. */
const inOrder = (entries: readonly FileEntry[]) =>
  [...entries].sort(
    (a, b) => Number(b.kind === 'folder') - Number(a.kind === 'folder') || a.name.localeCompare(b.name),
  );

export function Entries({ agentId, folder, entries, onOpen, onTake, onRemove }: Props) {
  const now = useNow();
  return (
    <ul className="files-list round-l clip framed ground-1" aria-label={t`Files`}>
      {inOrder(entries).map((entry) => {
        const { name, kind } = entry;
        const items: MenuItem[] = [
          ...(kind === 'file' || kind === 'folder' ? [{ label: t`Download`, run: () => onTake(entry) }] : []),
          { label: t`Delete`, run: () => onRemove(entry) },
        ];
        return (
          <li className="stack middle touchable pad-block-2" key={name}>
            <span className="files-kind" data-kind={kind} aria-hidden="true" />
            <span className="break">
              {kind === 'folder' ? (
                <Link href={PATHS.files(agentId, folder === '' ? name : `${folder}/${name}`)} dir="auto">
                  {name}
                  <span className="visually-hidden">{`, ${t`Folder`}`}</span>
                </Link>
              ) : kind === 'file' ? (
                <button
                  type="button"
                  className="files-open text-start plain-button break ink pad-3-0"
                  dir="auto"
                  onClick={() => onOpen(entry)}
                >
                  {name}
                </button>
              ) : (
                <span dir="auto">{name}</span>
              )}
            </span>
            <small className="files-size text-2">{ODD[kind] ?? bytes(entry.bytes)}</small>
            <small className="files-when text-end text-2">
              {dayWithin(entry.changedAt, now)} {clockTime(entry.changedAt)}
            </small>
            <MenuButton label={t`More for ${name}`} items={items}>
              <MoreIcon />
            </MenuButton>
          </li>
        );
      })}
    </ul>
  );
}

type Content =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'none'; readonly why: string };

interface FileDialogProps {
  readonly agentId: AgentId;
  readonly path: string;
  readonly entry: FileEntry;
  readonly onTake: () => void;
  readonly onClose: () => void;
}

/** The view of a file, by its name. Pure. */
type ShownAs = { readonly kind: 'text' | 'markdown' | 'patch' } | { readonly kind: 'image'; readonly type: string };

/**
 * Pictures that a browser draws without running anything. SVG can contain scripts, so it is shown
 * as text.
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
 * The content of a file that a page can show: text, Markdown, diffs and pictures. Nothing in it
 * runs.
 */
function useContent({ agentId, path, entry }: Pick<FileDialogProps, 'agentId' | 'path' | 'entry'>): Content {
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
        ? { kind: 'none', why: t`This file is neither text nor a picture that can be shown.` }
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
      return <p role="status">{t`Loading…`}</p>;
    case 'failed':
      return <p role="alert">{t`Could not load this. ${content.why}`}</p>;
    case 'none':
      return <p>{content.why}</p>;
    case 'image':
      return <img className="files-picture at-most-full block round" src={content.url} alt={name} />;
    case 'text':
      if (shownAs(name).kind === 'patch') return <Patch text={content.text} label={t`Change in ${name}`} />;
      return shownAs(name).kind === 'markdown' ? (
        <div className="files-markdown">
          <Words text={content.text} breaks={false} />
        </div>
      ) : (
        // Scrollable where it is too wide, by keyboard too.
        <pre
          className="files-text break as-written pad-wide scroll box text-3 ground-2"
          dir="auto"
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          role="region"
          aria-label={t`Text of ${name}`}
        >
          {content.text === '' ? t`empty` : content.text}
        </pre>
      );
    default:
      return content satisfies never;
  }
}

/** One opened file. */
export function FileDialog({ agentId, path, entry, onTake, onClose }: FileDialogProps) {
  const content = useContent({ agentId, path, entry });
  useClosedByBack(true, onClose);
  return (
    <Dialog title={entry.name} shape="wide" onClose={onClose}>
      <Shown content={content} name={entry.name} />
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onTake}>{t`Download`}</button>
      </div>
    </Dialog>
  );
}

interface Whose {
  readonly agentId: AgentId;
  readonly folder: string;
}
const within = (folder: string, name: string) => (folder === '' ? name : `${folder}/${name}`);

/** The path from the agent's folder to this one. Each part but the last is a link. */
function Trail({ agentId, folder, name }: Whose & { name: string }) {
  const parts = folder === '' ? [] : folder.split('/');
  return (
    <nav className="files-trail flex wrap narrow break" aria-label={t`Folder`}>
      {[name, ...parts].map((part, i) => {
        const path = parts.slice(0, i).join('/');
        return (
          <span key={path}>
            {i > 0 && <span aria-hidden="true">/</span>}
            {i === parts.length ? (
              <strong dir="auto" aria-current="page">
                {part}
              </strong>
            ) : (
              <Link href={PATHS.files(agentId, path)} dir="auto">
                {part}
              </Link>
            )}
          </span>
        );
      })}
    </nav>
  );
}

function Room({ used: { bytes: files, most, whole, history = 0 } }: Pick<FolderAnswer, 'used'>) {
  const taken = files + history;
  const text = t`${bytes(taken)} of ${bytes(most)}`;
  return (
    <div className="files-room stack gap-3 ink-3">
      <UsedBar share={taken / most} meter={{ label: t`Room that is used`, now: taken, most, text }} />
      <small>{t`${whole === undefined ? text : `> ${text}`} used, in all folders of this agent`}</small>
    </div>
  );
}

/** Uploads one file after another, so that a whole folder is not sent at once. */
function useGiving({ agentId, folder }: Whose) {
  const files = filesOf(useRoost());
  const { notices } = useRoost();
  const [left, setLeft] = useState(0);
  const [inTurn] = useState(createQueue);
  const give = async (file: File) => {
    setLeft((count) => count + 1);
    const refused = await inTurn(() => files.put(agentId, within(folder, file.name), file));
    setLeft((count) => count - 1);
    if (refused !== null) notices.info(t`“${file.name}” was not added. ${refused}`);
  };
  return { left, give: (file: File) => void give(file) };
}

interface RemoveProps {
  readonly agentId: AgentId;
  readonly path: string;
  readonly entry: FileEntry;
  readonly onClose: () => void;
}

/** Files in a folder exist nowhere else, so deleting asks first. */
function RemoveDialog({ agentId, path, entry, onClose }: RemoveProps) {
  const files = filesOf(useRoost());
  return (
    <SureDialog
      title={t`Delete ${entry.name}`}
      does={t`Delete`}
      onSure={() => files.remove(agentId, path)}
      onClose={onClose}
    >
      <p>{t`If the history recorded it, you can restore it for ${KEPT_DAYS} days.`}</p>
    </SureDialog>
  );
}

function Folder({ agentId, folder, name }: Whose & { name: string }) {
  const state = useRoost();
  const files = filesOf(state);
  const giving = useGiving({ agentId, folder });
  const [opened, setOpened] = useState<FileEntry | null>(null);
  const [removing, setRemoving] = useState<FileEntry | null>(null);
  const [zipping, setZipping] = useState(false);
  /** The zip may be incomplete. A notice says so until the person has read it. */
  const takeZip = (called: string, { file, leftOut }: { readonly file: Blob; readonly leftOut: number }) => {
    download(`${called}.zip`, file);
    if (leftOut > 0)
      state.notices.error(
        t`${plural(leftOut, 'file or folder', 'files or folders')} of “${called}” could not be put into the zip as they are. ${LEFT_OUT_NAME} in it says which, and why.`,
      );
  };
  const take = async (entry: FileEntry) => {
    const path = within(folder, entry.name);
    const unfetched = (problem: Parameters<typeof problemText>[0]) =>
      void state.notices.info(t`Could not load ${entry.name}. ${problemText(problem)}`);
    if (entry.kind === 'folder') {
      const got = await files.zip(agentId, path);
      return got.ok ? takeZip(entry.name, got.value) : unfetched(got.problem);
    }
    const got = await files.read(agentId, path);
    return got.ok ? void download(entry.name, got.value) : unfetched(got.problem);
  };
  const zip = async () => {
    if (zipping) return;
    setZipping(true);
    const got = await files.zip(agentId, folder);
    setZipping(false);
    if (got.ok) takeZip(folder === '' ? name : (folder.split('/').at(-1) ?? name), got.value);
    else state.notices.refused(got.problem);
  };
  return (
    <>
      <div className="gap-5 cluster apart">
        <Trail agentId={agentId} folder={folder} name={name} />
        <button type="button" className="ghost" disabled={zipping} onClick={() => void zip()}>
          {zipping ? t`Working…` : t`Download`}
        </button>
      </div>
      <QueryView query={files.folder(agentId, folder)}>
        {(answer) => (
          <>
            {answer.entries.length === 0 ? (
              <p className="files-empty round-l pretty ink-2 framed pad-7">{t`Nothing yet. Ask ${name} for something in writing.`}</p>
            ) : (
              <Entries
                {...{ agentId, folder }}
                entries={answer.entries}
                onOpen={setOpened}
                onTake={(entry) => void take(entry)}
                onRemove={setRemoving}
              />
            )}
            {answer.more > 0 && <p className="files-about pretty ink-2 text-3">{t`and ${answer.more} more`}</p>}
            <DropZone label={t`Choose files`} accept="" several onFile={giving.give}>
              {giving.left > 0
                ? t`${plural(giving.left, 'file')} on the way`
                : t`Drop files here. ${name} can work with them.`}
            </DropZone>
            <Room used={answer.used} />
          </>
        )}
      </QueryView>
      {opened && (
        <FileDialog
          {...{ agentId }}
          path={within(folder, opened.name)}
          entry={opened}
          onTake={() => void take(opened)}
          onClose={() => setOpened(null)}
        />
      )}
      {removing && (
        <RemoveDialog
          {...{ agentId }}
          path={within(folder, removing.name)}
          entry={removing}
          onClose={() => setRemoving(null)}
        />
      )}
    </>
  );
}

/** The files in an agent's folder, made by the agent or uploaded. */
export default function FilesPage({
  agentId,
  folder,
  history = null,
  onClose,
}: {
  agentId: AgentId | null;
  folder: string;
  /** The history is shown; left out: the folder is. */
  history?: OpenedPoint | null;
  onClose: () => void;
}) {
  const team = useTeammates();
  const agents = team.all.filter(({ retired, agentId: id }) => !retired || id === agentId);
  const whose = agents.find((mate) => mate.agentId === agentId) ?? agents.find((mate) => mate.agentId !== LEAD_ID);
  return (
    <div className="files page page-narrow one-column gap-6 stack">
      <PageHead title={t`Files`} pageTitle={whose ? t`Files of ${whose.name}` : t`Files`} onClose={onClose}>
        <AgentSelect
          label={t`Agent`}
          agentId={whose?.agentId ?? null}
          path={(id) => (history && id !== null ? PATHS.fileHistory(id) : PATHS.files(id))}
        />
      </PageHead>
      <p className="files-about pretty ink-2 text-3 measure">{t`These files are on the relay’s machine only: not sealed, and not in your exports.`}</p>
      {whose ? (
        <Tabs
          label={t`Files of ${whose.name}`}
          shown={history ? 'history' : 'folder'}
          tabs={[
            { tab: 'folder', title: t`Folder`, path: PATHS.files(whose.agentId) },
            { tab: 'history', title: t`History`, path: PATHS.fileHistory(whose.agentId) },
          ]}
        >
          {history ? (
            <FileHistory key={whose.agentId} agentId={whose.agentId} name={whose.name} opened={history} />
          ) : (
            <div className="files-folder stack gap-6 one-column">
              <Folder
                key={`${whose.agentId} ${folder}`}
                agentId={whose.agentId}
                folder={agentId === null ? '' : folder}
                name={whose.name}
              />
            </div>
          )}
        </Tabs>
      ) : (
        <p className="files-empty round-l pretty ink-2 framed">{t`There is no agent yet. SUMMON first.`}</p>
      )}
    </div>
  );
}
