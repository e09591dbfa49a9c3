/** Rules of our own for the page, that no linter has. */

const KEY_PROPERTIES = new Set(['key', 'code']);
const COMPOSING_PROPERTIES = new Set(['isComposing', 'keyCode', 'which']);
const nameOf = (node) =>
  node?.type === 'Identifier' ? node.name : node?.type === 'Literal' ? String(node.value) : null;

/**
 * What a function is given to, where that says that it hears keys: `onKeyDown={…}`,
 * `addEventListener('keydown', …)`.
 */
function hearsKeys(node) {
  const { parent } = node;
  switch (parent?.type) {
    case 'JSXExpressionContainer':
      return parent.parent.type === 'JSXAttribute' && /^onKey/.test(parent.parent.name.name);
    case 'CallExpression':
      return /^key/.test(nameOf(parent.arguments[0]) ?? '') && parent.arguments[1] === node;
    case 'VariableDeclarator':
      return /^onKey/.test(nameOf(parent.id) ?? '');
    case 'Property':
      return /^onKey/.test(nameOf(parent.key) ?? '');
    default:
      return false;
  }
}
const isFunction = (node) => /^(?:ArrowFunctionExpression|FunctionExpression|FunctionDeclaration)$/.test(node.type);

/** Which key was pressed is read by `keyOf`, which knows of input methods. */
const keysByHelper = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      read: 'An input method may have this press: read the key by `keyOf` of src/page/ui/design/keys.ts.',
    },
  },
  create({ sourceCode, report }) {
    const isKeyEvent = (parameter, owner) =>
      /\bKeyboardEvent\b/.test(parameter.typeAnnotation ? sourceCode.getText(parameter.typeAnnotation) : '') ||
      (owner.params[0] === parameter && hearsKeys(owner));
    /** Does this name stand for a press of a key here? */
    function isPress(node) {
      if (node.type === 'MemberExpression' && nameOf(node.property) === 'nativeEvent') return isPress(node.object);
      const name = nameOf(node);
      if (node.type !== 'Identifier') return false;
      for (let owner = node.parent; owner; owner = owner.parent) {
        const parameter = isFunction(owner) ? owner.params.find((each) => nameOf(each) === name) : undefined;
        if (parameter) return isKeyEvent(parameter, owner);
      }
      return false;
    }
    const inspectPattern = (pattern) => {
      for (const property of pattern.properties)
        if (KEY_PROPERTIES.has(nameOf(property.key)) || COMPOSING_PROPERTIES.has(nameOf(property.key)))
          report({ node: property, messageId: 'read' });
    };
    const inspectFunction = (node) => {
      for (const parameter of node.params)
        if (parameter.type === 'ObjectPattern' && isKeyEvent(parameter, node)) inspectPattern(parameter);
    };
    return {
      MemberExpression(node) {
        const property = node.computed ? null : nameOf(node.property);
        if (COMPOSING_PROPERTIES.has(property) || (KEY_PROPERTIES.has(property) && isPress(node.object)))
          report({ node, messageId: 'read' });
      },
      VariableDeclarator(node) {
        if (node.id.type === 'ObjectPattern' && node.init && isPress(node.init)) inspectPattern(node.id);
      },
      ArrowFunctionExpression: inspectFunction,
      FunctionExpression: inspectFunction,
      FunctionDeclaration: inspectFunction,
    };
  },
};

const isElement = (node) => node.type === 'JSXElement' || node.type === 'JSXFragment';
/** The last name in `a`, `a.b`, `a.b()` and `a?.b`. */
function calledAs(node) {
  if (node.type === 'ChainExpression') return calledAs(node.expression);
  if (node.type === 'CallExpression') return calledAs(node.callee);
  return node.type === 'MemberExpression' ? nameOf(node.property) : nameOf(node);
}
/** React makes no node of an empty string. */
const isNothing = (node) =>
  (node.type === 'Literal' && (node.value === '' || !/^(?:string|number)$/.test(typeof node.value))) ||
  (node.type === 'Identifier' && node.name === 'undefined');

/** What is called so is text, as far as nobody looks at types. */
const TEXTS =
  /(?:Text|Time|Name)$|^(?:text|name|title|label|status|said|otherwise|asks|next|count|plural|bytes|names|join)$/;

/** What an expression in an element may become: text, an element, or nothing. */
function kindsOf(node, kinds = new Set()) {
  if (isElement(node)) kinds.add('element');
  else if (isNothing(node)) kinds.add('nothing');
  else if (node.type === 'LogicalExpression') {
    if (node.operator === '&&') kinds.add('nothing');
    else kindsOf(node.left, kinds);
    kindsOf(node.right, kinds);
  } else if (node.type === 'ConditionalExpression') {
    kindsOf(node.consequent, kinds);
    kindsOf(node.alternate, kinds);
  } else if (
    node.type === 'CallExpression' &&
    /\.(?:map|flatMap)$/.test(node.callee.type === 'MemberExpression' ? `.${nameOf(node.callee.property)}` : '')
  ) {
    kinds.add('list');
  } else if (node.type === 'Literal' && String(node.value).trim() === '') kinds.add('space');
  else if (node.type === 'Literal' || node.type === 'TemplateLiteral' || node.type === 'TaggedTemplateExpression')
    kinds.add('text');
  else kinds.add(TEXTS.test(calledAs(node) ?? '') ? 'text' : 'unknown');
  return kinds;
}

/**
 * A text beside an element that comes and goes, or that goes itself, stands in an element of its
 * own: a browser that translates the page puts text nodes into elements of its own, and React then
 * looks for them in vain.
 */
const textOfItsOwn = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      beside:
        'Beside what comes and goes, text stands in an element of its own: browsers that translate move text nodes.',
    },
  },
  create({ report }) {
    function inspect(node) {
      const children = node.children.flatMap((child) => {
        if (child.type === 'JSXText') return child.value.trim() === '' ? [] : [{ child, kinds: new Set(['text']) }];
        if (child.type === 'JSXExpressionContainer')
          return child.expression.type === 'JSXEmptyExpression' ? [] : [{ child, kinds: kindsOf(child.expression) }];
        return [{ child, kinds: new Set(['element']) }];
      });
      if (children.length < 2) return;
      const comesAndGoes = ({ kinds }) => kinds.size > 1 || kinds.has('list');
      const isAnyMoving = children.some(comesAndGoes);
      for (const each of children)
        if (each.kinds.has('text') && (isAnyMoving || comesAndGoes(each)))
          report({ node: each.child, messageId: 'beside' });
    }
    return { JSXElement: inspect, JSXFragment: inspect };
  },
};

export default {
  meta: { name: 'page' },
  rules: { 'keys-by-helper': keysByHelper, 'text-of-its-own': textOfItsOwn },
};
