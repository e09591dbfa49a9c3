import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { FileEntry } from '../../../shared/protocol/endpoints/workspaces.ts';
import { MoreIcon } from '../parts/icons.tsx';
import { MenuButton, type MenuItem } from '../parts/menu.tsx';
import { PATHS } from '../routes.ts';
import { bytes } from '../text/sizes.ts';
import { clockTime, dayWithin } from '../text/time.ts';
import { useNow } from '../use-now.ts';

interface Props {
  readonly agentId: AgentId;
  readonly folder: string;
  readonly entries: readonly FileEntry[];
  readonly onOpen: (entry: FileEntry) => void;
  readonly onTake: (entry: FileEntry) => void;
  readonly onRemove: (entry: FileEntry) => void;
}

const ODD: Partial<Record<FileEntry['kind'], string>> = {
  link: t`leads elsewhere, and is not followed`,
  other: t`no file`,
};

/** Folders first, then files, each by name. */
const inOrder = (entries: readonly FileEntry[]) =>
  [...entries].sort(
    (a, b) => Number(b.kind === 'folder') - Number(a.kind === 'folder') || a.name.localeCompare(b.name),
  );

export function Entries({ agentId, folder, entries, onOpen, onTake, onRemove }: Props) {
  const now = useNow();
  return (
    <ul className="files-list" aria-label={t`Files`}>
      {inOrder(entries).map((entry) => {
        const { name, kind } = entry;
        const items: MenuItem[] = [
          ...(kind === 'file' || kind === 'folder'
            ? [{ label: kind === 'folder' ? t`Download as a zip` : t`Download`, run: () => onTake(entry) }]
            : []),
          { label: t`Delete…`, run: () => onRemove(entry) },
        ];
        return (
          <li key={name}>
            <span className="files-kind" data-kind={kind} aria-hidden="true" />
            <span className="files-name">
              {kind === 'folder' ? (
                <Link href={PATHS.files(agentId, folder === '' ? name : `${folder}/${name}`)} dir="auto">
                  {name}
                  <span className="visually-hidden">{t`, folder`}</span>
                </Link>
              ) : kind === 'file' ? (
                <button type="button" className="files-open" dir="auto" onClick={() => onOpen(entry)}>
                  {name}
                </button>
              ) : (
                <span dir="auto">{name}</span>
              )}
            </span>
            <small className="files-size">{ODD[kind] ?? bytes(entry.bytes)}</small>
            <small className="files-when">
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
