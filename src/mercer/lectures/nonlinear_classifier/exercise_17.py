class _E: number=17; title="which features separate an ellipse"
EXERCISE=_E()
