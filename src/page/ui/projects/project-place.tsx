/** Where a project's own work lies: the files of its folder, and the token of its repository. */
import { useRef, useState } from 'react';
import { UPLOAD_BYTES } from '../../../shared/protocol/endpoints/workspaces.ts';
import type { ForgeKind } from '../../../shared/protocol/attempts.ts';
import type { Project } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import { useRoost } from '../context.tsx';
import { download } from '../exports/sink.ts';
import { SureDialog } from '../design/dialog.tsx';
import { keyOf } from '../design/keys.ts';
import { QueryView } from '../parts/page-head.tsx';
import { bytes } from '../text/sizes.ts';
import { revealedLine } from '../text/unseen.ts';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

interface Props {
  readonly project: Project;
  readonly away: boolean;
}

function Files({ project: { projectId, kind }, away }: Props) {
  const roost = useRoost();
  const work = taskWorkOf(roost);
  const picker = useRef<HTMLInputElement>(null);
  const { busy, act } = useAction();
  const [removing, setRemoving] = useState<string | null>(null);
  const isFolder = kind === 'folder';

  async function take(path: string): Promise<void> {
    const got = await work.readFile(projectId, path);
    if (got.ok) download(path.split('/').at(-1) ?? path, got.value);
    else roost.notices.info(t`Could not load ${path}. ${problemText(got.problem)}`);
  }
  const add = (files: readonly File[]) =>
    act(async () => {
      for (const file of files) {
        const why =
          file.size > UPLOAD_BYTES
            ? t`It is larger than ${bytes(UPLOAD_BYTES)}.`
            : await work.putFile(projectId, file.name, file);
        if (why !== null) roost.notices.info(t`“${file.name}” was not added. ${why}`);
      }
    });
  return (
    <>
      <QueryView query={work.files(projectId)}>
        {({ files, more }) => (
          <>
            {files.length === 0 && <p className="setting-hint">{t`Agents get a copy of the files that you add.`}</p>}
            <ul className="project-files above-4 gap-2 stack">
              {files.map((file) => (
                <li className="stack middle gap-4" key={file.path}>
                  <button
                    type="button"
                    className="ghost"
                    dir="ltr"
                    disabled={away}
                    onClick={() => void take(file.path)}
                  >
                    {revealedLine(file.path)}
                  </button>
                  <span>{bytes(file.bytes)}</span>
                  {isFolder && (
                    <button
                      type="button"
                      className="ghost"
                      aria-label={t`Delete ${file.path}`}
                      disabled={away}
                      onClick={() => setRemoving(file.path)}
                    >{t`Delete`}</button>
                  )}
                </li>
              ))}
            </ul>
            {more > 0 && <p className="setting-hint">{t`and ${String(more)} more`}</p>}
          </>
        )}
      </QueryView>
      {isFolder && (
        <>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label={t`Add files…`}
            onChange={({ currentTarget }) => {
              const files = [...(currentTarget.files ?? [])];
              currentTarget.value = '';
              void add(files);
            }}
          />
          <button type="button" className="ghost" disabled={away || busy} onClick={() => picker.current?.click()}>
            {busy ? t`Working…` : t`Add files…`}
          </button>
        </>
      )}
      {removing !== null && (
        <SureDialog
          title={t`Delete ${removing}`}
          does={t`Delete`}
          onSure={() => work.removeFile(projectId, removing)}
          onClose={() => setRemoving(null)}
        >
          <p>{t`Tasks under way keep their copy.`}</p>
        </SureDialog>
      )}
    </>
  );
}

const FORGES: readonly { readonly forge: ForgeKind | null; readonly name: () => string }[] = [
  { forge: null, name: () => t`Here in Roost` },
  { forge: 'github', name: () => 'GitHub' },
  { forge: 'gitea', name: () => t`Gitea or Forgejo` },
];

function Token({ project: { projectId }, away }: Props) {
  const work = taskWorkOf(useRoost());
  const [token, setToken] = useState('');
  const [forge, setForge] = useState<ForgeKind | null>(null);
  const { busy, failed, act } = useAction();
  const set = (given: { token: string; forge: ForgeKind | null } | null) =>
    act(async () => {
      const why = await work.setToken(projectId, given);
      if (why === null) setToken('');
      return why;
    });
  return (
    <QueryView query={work.token(projectId)}>
      {(stored) => (
        <div className="gap-5 stack">
          <p className="setting-hint">{t`For a private repository. It must allow reading and pushing. The relay stores it encrypted, and no agent sees it.`}</p>
          <label>
            <span>{t`Token`}</span>
            <input
              className="field"
              type="password"
              autoComplete="off"
              placeholder={stored.isSet ? t`Saved` : undefined}
              value={token}
              onChange={({ currentTarget }) => setToken(currentTarget.value)}
              onKeyDown={(event) => {
                if (keyOf(event) !== 'Enter') return;
                // The settings around it are not saved by this.
                event.preventDefault();
                if (token.trim() !== '') set({ token: token.trim(), forge });
              }}
            />
          </label>
          <label>
            <span>{t`Requests to merge are opened`}</span>
            <select
              className="field"
              value={forge ?? ''}
              onChange={({ currentTarget }) =>
                setForge(FORGES.find((each) => each.forge === currentTarget.value)?.forge ?? null)
              }
            >
              {FORGES.map((each) => (
                <option key={each.forge ?? ''} value={each.forge ?? ''}>
                  {each.name()}
                </option>
              ))}
            </select>
          </label>
          <WrongNote text={failed} />
          <div className="dialog-ways">
            {stored.isSet && (
              <button
                type="button"
                className="ghost ghost-danger"
                disabled={away || busy}
                onClick={() => void set(null)}
              >{t`Delete`}</button>
            )}
            <button
              type="button"
              className="ghost"
              disabled={away || busy || token.trim() === ''}
              onClick={() => void set({ token: token.trim(), forge })}
            >
              {busy ? t`Working…` : t`Save`}
            </button>
          </div>
        </div>
      )}
    </QueryView>
  );
}

/** Each part is asked for when it is opened. */
export function ProjectPlace({ project, away }: Props) {
  const [opened, setOpened] = useState<readonly ('files' | 'token')[]>([]);
  const open = (what: 'files' | 'token') => setOpened((all) => (all.includes(what) ? all : [...all, what]));
  const hasAddress = project.kind === 'git' && /^https?:/.test(project.repository);
  return (
    <div className="ruled pad-4-0 stack gap-2">
      <details onToggle={({ currentTarget }) => currentTarget.open && open('files')}>
        <summary className="ink text-4 bold touchable pad-block-3">{t`Files`}</summary>
        {opened.includes('files') && <Files project={project} away={away} />}
      </details>
      {hasAddress && (
        <details onToggle={({ currentTarget }) => currentTarget.open && open('token')}>
          <summary className="ink text-4 bold">{t`Token`}</summary>
          {opened.includes('token') && <Token project={project} away={away} />}
        </details>
      )}
    </div>
  );
}
