import type { StorageStatus } from '../../protocol/worker.ts';
import { kindGroups } from '../text/kinds.ts';
import { bytes, count } from '../text/sizes.ts';

/** What there is, by kind: a bar for its share, and the figures in words beside it. */
export function Kinds({ kinds }: { kinds: StorageStatus['kinds'] }) {
  const groups = kindGroups(kinds);
  const most = groups[0]?.chars ?? 0;
  if (groups.length === 0) return <p className="setting-hint">Nothing is stored yet.</p>;
  return (
    <table className="kinds">
      <caption className="visually-hidden">What is stored, by kind</caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">Kind</span>
          </th>
          <td aria-hidden="true" />
          <th scope="col">documents</th>
          <th scope="col">as text</th>
        </tr>
      </thead>
      <tbody>
        {groups.map(({ name, documents, chars }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="kinds-bar" aria-hidden="true">
              <i style={{ '--share': `${most === 0 ? 0 : Math.max(1, (chars / most) * 100)}%` }} />
            </td>
            <td>{count(documents)}</td>
            <td>{bytes(chars)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
