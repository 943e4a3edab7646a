/** Which variables of a script must not have the same letter. */
import { type AnyNode, parse } from 'acorn';

type Scope = { readonly from: number; readonly to: number; readonly outer: Scope | undefined };

/** What the script says of one variable: the scopes that declare it, and where it is used. */
type Variable = { readonly scopes: Set<Scope>; readonly uses: number[] };

const isNode = (value: unknown): value is AnyNode => typeof (value as AnyNode | null)?.type === 'string';

const partsOf = (node: AnyNode): AnyNode[] => Object.values(node).flat().filter(isNode);

/** The names that a declaration's pattern declares. */
const namesOf = (pattern: AnyNode): string[] => {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'Property':
      return namesOf(pattern.value);
    case 'AssignmentPattern':
      return namesOf(pattern.left);
    default:
      return partsOf(pattern).flatMap(namesOf);
  }
};

/** The variables of a numbered script (`numberVariables`) by number. */
const findVariables = (numbered: string): Variable[] => {
  const variables: Variable[] = [];
  const variable = (name: string): Variable => {
    const number = Number(name.slice(1, -1));
    variables[number] ??= { scopes: new Set(), uses: [] };
    return variables[number];
  };
  const declare = (pattern: AnyNode, scope: Scope) => {
    for (const name of namesOf(pattern)) variable(name).scopes.add(scope);
  };
  const visit = (node: AnyNode, scope: Scope, functionScope: Scope): void => {
    const inner: Scope = { from: node.start, to: node.end, outer: scope };
    switch (node.type) {
      case 'Identifier':
        if (node.name.startsWith('$')) variable(node.name).uses.push(node.start);
        return;
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'FunctionDeclaration': {
        if (node.id) declare(node.id, scope);
        for (const each of node.params) declare(each, inner);
        // A body is no scope of its own: it may not declare what is a parameter.
        const body = node.body.type === 'BlockStatement' ? node.body.body : [node.body];
        for (const each of [...node.params, ...body]) visit(each, inner, inner);
        return;
      }
      case 'CatchClause':
        if (node.param) declare(node.param, inner);
        for (const each of node.body.body) visit(each, inner, functionScope);
        return;
      case 'VariableDeclaration':
        for (const { id } of node.declarations) declare(id, node.kind === 'var' ? functionScope : scope);
        for (const each of partsOf(node)) visit(each, scope, functionScope);
        return;
      case 'BlockStatement':
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
        for (const each of partsOf(node)) visit(each, inner, functionScope);
        return;
      default:
        for (const each of partsOf(node)) visit(each, scope, functionScope);
    }
  };
  const program = parse(numbered, { ecmaVersion: 2018 });
  const whole: Scope = { from: 0, to: numbered.length, outer: undefined };
  for (const each of program.body) visit(each, whole, whole);
  return variables;
};

const isWithin = (scope: Scope, outer: Scope): boolean =>
  scope.outer !== undefined && (scope.outer === outer || isWithin(scope.outer, outer));

/** Whether a scope declares both, or the other one's scope would hide a variable that is used in it. */
const isHidden = (variable: Variable, other: Variable): boolean =>
  [...variable.scopes].some((outer) =>
    [...other.scopes].some(
      (scope) =>
        scope === outer || (isWithin(scope, outer) && variable.uses.some((use) => scope.from <= use && use < scope.to)),
    ),
  );

/** The numbers of the variables that must differ from each variable of a numbered script, by number. */
export const conflictsOf = (numbered: string): number[][] => {
  const variables = findVariables(numbered);
  return variables.map((variable) =>
    variables.flatMap((other, number) =>
      other !== variable && (isHidden(variable, other) || isHidden(other, variable)) ? [number] : [],
    ),
  );
};
