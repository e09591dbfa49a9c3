/**
 * How queries become SQL for Postgres and for SQLite. `dialect.ts` names what differs, as raw nodes
 * with both forms. SQLite has no schemas, no row locks and no offset without a limit.
 */
import {
  type OffsetNode,
  PostgresQueryCompiler,
  type RawNode,
  type SchemableIdentifierNode,
  type SelectModifierNode,
  SelectQueryNode,
  SqliteQueryCompiler,
} from 'kysely';

/** Begins a raw node with two forms, which are its parameters: Postgres first. */
const MARK = '/* one of two forms */';

export class PostgresCompiler extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    const [postgres] = node.parameters;
    if (node.sqlFragments[0] === MARK && postgres) this.visitNode(postgres);
    else super.visitRaw(node);
  }
}

export class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    const [, sqlite] = node.parameters;
    if (node.sqlFragments[0] === MARK && sqlite) this.visitNode(sqlite);
    else super.visitRaw(node);
  }
  protected override visitSchemableIdentifier(node: SchemableIdentifierNode): void {
    this.visitNode(node.identifier);
  }
  /** In the text, so that it is compared with the condition of an index. */
  protected override appendValue(parameter: unknown): void {
    if (typeof parameter === 'boolean') this.append(String(parameter));
    else super.appendValue(parameter);
  }
  protected override visitOffset(node: OffsetNode): void {
    const { parentNode } = this;
    // SQLite has no offset without a limit. A negative one is none.
    if (parentNode && SelectQueryNode.is(parentNode) && !parentNode.limit) this.append('limit -1 ');
    super.visitOffset(node);
  }
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier === 'Distinct') super.visitSelectModifier(node);
  }
}
