//! Reads the parameters in a spec such as `bm25(k1=0.9)`, for first stages, features and analyses.

use rankwright_spec::{Conflict, ParamGroup, Spec, SpecError, read_spec};

/// The parameters of a spec; an error if the spec has a cut-off, as in `bm25@10`.
pub(crate) fn read_params<P: ParamGroup + Default>(spec: &Spec) -> Result<P, SpecError> {
    if let Some(cutoff) = spec.cutoff {
        return Err(SpecError::conflict(&spec.name, Conflict::CutoffNotAllowed { cutoff }));
    }
    read_spec(spec)
}

#[cfg(test)]
mod tests {
    use crate::FirstStage;

    #[test]
    fn a_cut_off_is_refused() {
        let error = FirstStage::parse("bm25@10").unwrap_err();
        assert_eq!(error.to_string(), "`bm25`: it takes no cut-off, and @10 was given");
    }
}
