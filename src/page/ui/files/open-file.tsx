import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { filesOf } from '../../state/files.ts';
import { problemText } from '../../state/ports.ts';
import { useRoost } from '../context.tsx';
import { download } from '../exports/sink.ts';
import { useQuery } from '../hooks.ts';
import { Dialog } from '../design/dialog.tsx';
import { FileDialog } from './files-page.tsx';

/** One file of an agent's folder, opened from anywhere by its path. */
export default function OpenFile({ agentId, path, onClose }: { agentId: AgentId; path: string; onClose: () => void }) {
  const state = useRoost();
  const files = filesOf(state);
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const folder = useQuery(files.folder(agentId, names.slice(0, -1).join('/')));
  const name = names.at(-1) ?? path;
  const entry = folder.kind === 'ready' ? folder.value.entries.find((one) => one.name === name) : undefined;
  const take = async () => {
    const got = await files.read(agentId, path);
    if (got.ok) download(name, got.value);
    else state.notices.info(t`Could not load ${name}. ${problemText(got.problem)}`);
  };
  if (entry)
    return <FileDialog agentId={agentId} path={path} entry={entry} onTake={() => void take()} onClose={onClose} />;
  const why = folder.kind === 'failed' ? problemText(folder.problem) : t`It was moved or deleted since.`;
  return (
    <Dialog title={name} onClose={onClose}>
      {folder.kind === 'loading' ? <p role="status">{t`Loading…`}</p> : <p role="alert">{why}</p>}
    </Dialog>
  );
}
