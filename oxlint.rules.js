/** Rules of our own, that no linter has. */
/** A function is split by what it does; one that is clearer whole says at its head why: `// In one piece: …`. */
const MOST_LINES = 100;
export default {
  meta: { name: 'pieces' },
  rules: {
    'long-function': {
      meta: {
        type: 'suggestion',
        schema: [],
        messages: {
          long: 'This function has {{lines}} lines of code: split it by what it does, or say at its head why it is `In one piece: …`.',
          needless: 'This function has {{lines}} lines of code, and need not say why it is in one piece.',
        },
      },
      create({ sourceCode, report }) {
        const isCode = sourceCode.lines.map((line) => line.trim() !== '');
        for (const { loc } of sourceCode.getAllComments())
          for (let at = loc.start.line; at <= loc.end.line; at++) {
            const from = at === loc.start.line ? loc.start.column : 0;
            const to = at === loc.end.line ? loc.end.column : Infinity;
            const line = sourceCode.lines[at - 1];
            if ((line.slice(0, from) + line.slice(to)).replace(/^\{?\}?$/, '').trim() === '') isCode[at - 1] = false;
          }
        /** The statement, or the member, that it is all of. */
        const headOf = (node) =>
          /^(VariableDeclarat|Export|Property|MethodDefinition)/.test(node.parent?.type ?? '')
            ? headOf(node.parent)
            : node;
        const look = (node) => {
          const lines = isCode.slice(node.loc.start.line - 1, node.loc.end.line).filter(Boolean).length;
          const reason = sourceCode
            .getCommentsBefore(headOf(node))
            .some(({ value }) => value.includes('In one piece:'));
          if (lines > MOST_LINES !== reason) report({ node, messageId: reason ? 'needless' : 'long', data: { lines } });
        };
        return { FunctionDeclaration: look, FunctionExpression: look, ArrowFunctionExpression: look };
      },
    },
  },
};
